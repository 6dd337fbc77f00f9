/** The names of the consumer groups, made of the one that the settings give. */
export const retryGroup = (group: string) => `${group}.retry`;

/** Each deliveries view has a group of its own, by its id. */
export const viewGroup = (group: string, viewId: string) => `${group}.view.${viewId}`;

/** A view forgets what its topic has lost, so it is no reason to keep it; and many a view is gone for ever. */
export const isViewGroup = (name: string) => /[.]view[.][0-9a-f]+$/.test(name);
