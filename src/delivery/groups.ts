/** Names of the consumer groups, derived from the configured group. */
export const retryGroup = (group: string) => `${group}.retry`;

/** API processes share the recoveries. */
export const recoveryGroup = (group: string) => `${group}.recoveries`;
export const noticeGroup = (group: string) => `${group}.notices`;

/** The remedy where another application is in one of them. */
export const OWN_GROUP =
  'give it a group.id of its own; what it commits is never delivered: see "A group is ours alone" in docs/operations.md';
