/** Names of the consumer groups, derived from the configured group. */
export const retryGroup = (group: string) => `${group}.retry`;

/** API processes share the recoveries. */
export const recoveryGroup = (group: string) => `${group}.recoveries`;
export const noticeGroup = (group: string) => `${group}.notices`;
/** Chooses the process that writes notices. */
export const noticeWriterGroup = (group: string) => `${group}.notice-writer`;
