/**
 * Options of ajv for our own schemas, which tests validate against their meta-schema: compiling the meta-schema in each
 * instance took 0.15 of the 0.88 s of CPU time of a `serve` start.
 */
export const OWN_SCHEMAS = { meta: false, validateSchema: false } as const;
