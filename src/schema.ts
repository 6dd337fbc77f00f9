/**
 * Descriptions of JSON: each is the check of a body or a record, its TypeScript type (`Static`), and of a body its schema in
 * /openapi.json.
 *
 *     const POINT = object('Point', 'A point.', { x: whole('Its column.'), label: optional(text('Its name.')) });
 *     type Point = Static<typeof POINT>; // { readonly x: number; readonly label?: string }
 */
declare const TYPE: unique symbol;

/** JSON Schema 2020-12, as in OpenAPI 3.1. One with a title becomes a component: in clients the name of its type. */
export type Schema<T = unknown> = Readonly<Record<string, unknown>> & { readonly [TYPE]?: T };

export type Static<S> = S extends { readonly [TYPE]?: infer T } ? T : never;

/** For values of our own, which JSON writes without what is undefined. */
export type Written<S> = {
  readonly [K in keyof Static<S>]: object extends Pick<Static<S>, K> ? Static<S>[K] | undefined : Static<S>[K];
};

/** The form in which a value crosses to another thread: every field is present, and null if the value has none. */
export type WithNulls<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};

interface Optional<T> {
  readonly optional: Schema<T>;
}

export type Fields = Readonly<Record<string, Schema | Optional<unknown>>>;
type OptionalIn<F extends Fields> = { [K in keyof F]: F[K] extends Optional<unknown> ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };
type Values<F extends Fields> = Flat<
  { readonly [K in Exclude<keyof F, OptionalIn<F>>]: Static<F[K]> } & {
    readonly [K in OptionalIn<F>]?: F[K] extends Optional<infer T> ? T : never;
  }
>;

/** A description of the same value in another place. */
export function described<T>(description: string, schema: Schema<T>): Schema<T> {
  return { ...schema, description } as Schema<T>;
}

export const text = (description: string, rest: object = {}): Schema<string> => ({
  type: 'string',
  description,
  ...rest,
});
export const time = (description: string) => text(description, { format: 'date-time' });
export const url = (description: string, rest: object = {}) => text(description, { format: 'uri', ...rest });
export const flag = (description: string): Schema<boolean> => ({ type: 'boolean', description });
export const whole = (description: string, rest: object = {}): Schema<number> => ({
  type: 'integer',
  description,
  ...rest,
});
export const count = (description: string) => whole(description, { minimum: 0 });
export const id = (description: string) => whole(description, { minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const milliseconds = (description: string): Schema<number> => ({ type: 'number', minimum: 0, description });
export const share = (description: string): Schema<number> => ({ type: 'number', minimum: 0, maximum: 1, description });
export const always = <const V>(value: V, description: string): Schema<V> => ({
  type: typeof value,
  const: value,
  description,
});

/** @param rest its title, if clients are to have a name for it */
export function oneOf<const V extends string>(values: readonly V[], description: string, rest = {}): Schema<V> {
  return { type: 'string', enum: values, description, ...rest };
}

export function orNull<T>(schema: Schema<T>): Schema<T | null> {
  const { type = 'string', enum: values } = schema;
  const nullable = { ...schema, type: [type, 'null'] };
  return Array.isArray(values) ? { ...nullable, enum: [...values, null] } : nullable;
}

export const textOrNull = (description: string) => orNull(text(description));
export const timeOrNull = (description: string) => orNull(time(description));
export const countOrNull = (description: string) => orNull(count(description));

/** An object of texts, by names that the description tells of. */
export const texts = (description: string): Schema<Readonly<Record<string, string>>> => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string' },
});

export function list<T>(description: string, items: Schema<T>, rest: object = {}): Schema<readonly T[]> {
  return { type: 'array', description, items, ...rest };
}

export function optional<T>(schema: Schema<T>): Optional<T> {
  return { optional: schema };
}

/** Fields that are not `optional` are required. */
export function object<F extends Fields>(title: string, description: string, fields: F): Schema<Values<F>> {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => !isOptional(field)).map(([name]) => name);
  const properties = entries.map(([name, field]) => [name, isOptional(field) ? field.optional : field]);
  return {
    title,
    description,
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

function isOptional(field: Schema | Optional<unknown>): field is Optional<unknown> {
  return 'optional' in field;
}
