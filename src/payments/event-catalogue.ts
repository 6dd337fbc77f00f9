/**
 * What the operator says about the `data` of each event type: a folder of JSON Schemas (2020-12), `cash_in.json` and so on, each
 * with a `description`, perhaps `examples`, and `x-amount` and `x-reference`, which name a field each. It documents, and
 * `events publish --check` validates by it; deliveries don't.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { invalid } from '../settings/invalid-config.js';
import { EVENT_TYPES, type EventType } from '../webhooks/limits.js';
import { EVENT_DESCRIPTIONS } from './event-descriptions.js';
import { isObject } from './parsed-payment.js';
import { DEFAULT_PATHS, type PaymentPaths, paymentFields } from './payment-fields.js';

const SETTING = 'EVENT_SCHEMAS';

export interface CataloguedType {
  readonly type: EventType;
  readonly description: string;
  /** Of `data`; null: any value. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** Of `data`; null: none. */
  readonly example: unknown;
  readonly paths: PaymentPaths;
  /** Why the data does not match the schema, naming the field; null if it does. */
  readonly problem: (data: unknown) => string | null;
}

/** Of every event type, in their order. */
export type EventCatalogue = ReadonlyMap<EventType, CataloguedType>;

/** @param folder null: none @throws InvalidConfig that names the file */
export function loadCatalogue(folder: string | null): EventCatalogue {
  const schemas = new Map(folder === null ? [] : filesIn(folder).map((file) => [file, schemaIn(folder, file)]));
  return new Map(EVENT_TYPES.map((type) => [type, catalogued(type, schemas.get(`${type}.json`))]));
}

/** Hidden ones are left aside: a ConfigMap of Kubernetes has some. */
function filesIn(folder: string): readonly string[] {
  const names = attempted(
    () => readdirSync(folder),
    () => "it can't be read as a folder",
  );
  const files = names.filter((name) => !name.startsWith('.'));
  const other = files.find((file) => !EVENT_TYPES.some((type) => file === `${type}.json`));
  if (other === undefined) return files;
  throw wrong(`${other} is not named after an event type, like cash_in.json`);
}

type Schema = NonNullable<CataloguedType['schema']>;

interface Checked extends Pick<CataloguedType, 'paths'> {
  readonly schema: Schema;
  readonly validate: ValidateFunction;
}

function schemaIn(folder: string, file: string): Checked {
  const text = attempted(
    () => readFileSync(join(folder, file), 'utf8'),
    () => `${file} can't be read`,
  );
  const schema: unknown = attempted(
    () => JSON.parse(text),
    () => `${file} is no JSON`,
  );
  if (!isObject(schema)) throw wrong(`${file} is no JSON object`);
  const validate = attempted(
    () => compiled(schema as Schema),
    ({ message }) => `${file} is no JSON Schema: ${message}`,
  );
  const { description, examples = [] } = schema as Schema;
  if (description !== undefined && typeof description !== 'string') throw wrong(`description of ${file} is no text`);
  for (const example of examples as readonly unknown[]) {
    if (!validate(example)) throw wrong(`an example in ${file} does not match its schema: ${described(validate)}`);
  }
  const path = (field: keyof PaymentPaths) => {
    const found = pathIn(schema as Schema, field, file);
    assertFound(schema as Schema, field, found, file);
    return found;
  };
  return { schema: schema as Schema, validate, paths: { amount: path('amount'), reference: path('reference') } };
}

/** A path begins with `data`, where the fields of every kind of event are. */
function pathIn(schema: Schema, field: keyof PaymentPaths, file: string): readonly string[] {
  const path = schema[`x-${field}`];
  if (path === undefined) return DEFAULT_PATHS[field];
  const names = typeof path === 'string' ? path.replace(/\[(\d+)\]/g, '.$1') : '';
  if (/^data([.][^.]+)+$/.test(names)) return names.split('.');
  throw wrong(`x-${field} of ${file} names no field of data, as data.${field} does`);
}

/** A path that finds nothing in any example would never find anything: a typing error. */
function assertFound(schema: Schema, field: keyof PaymentPaths, path: readonly string[], file: string): void {
  const { examples = [] } = schema as { readonly examples?: readonly unknown[] };
  if (schema[`x-${field}`] === undefined || examples.length === 0) return;
  const finds = (data: unknown) => paymentFields({ data }, { ...DEFAULT_PATHS, [field]: path })[field] !== undefined;
  if (!examples.some(finds)) throw wrong(`x-${field} of ${file} finds nothing in the examples of its schema`);
}

/** @throws InvalidConfig */
function attempted<T>(work: () => T, why: (error: Error) => string): T {
  try {
    return work();
  } catch (error) {
    throw wrong(why(error as Error));
  }
}

/** Unknown keywords and formats are allowed, as JSON Schema says. An instance for each: their ids may be the same. */
function compiled(schema: Schema): ValidateFunction {
  return new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
}

function catalogued(type: EventType, checked: Checked | undefined): CataloguedType {
  const [schema = null, validate] = [checked?.schema, checked?.validate];
  return {
    type,
    description: (schema?.description as string | undefined) ?? EVENT_DESCRIPTIONS[type],
    schema,
    example: (schema?.examples as readonly unknown[] | undefined)?.[0] ?? null,
    paths: checked?.paths ?? DEFAULT_PATHS,
    problem: (data) => (!validate || validate(data) ? null : described(validate)),
  };
}

/** For a check that has just failed. */
function described({ errors }: ValidateFunction): string {
  const { instancePath = '', message = 'does not match its schema', params } = errors?.[0] ?? {};
  const extra = params?.additionalProperty ?? params?.unevaluatedProperty;
  return `data${instancePath.replaceAll('/', '.')} ${message}${extra === undefined ? '' : `: ${extra}`}`;
}

function wrong(why: string) {
  return invalid(SETTING, `names a folder that can't be used: ${why}`);
}
