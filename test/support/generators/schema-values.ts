/** Valid values for a JSON schema of /openapi.json. */
import fc from 'fast-check';
import type { Json } from '../clients/documented.js';

/** Useful texts by field name: a schema only says that a field is a string. */
export type Meanings = Readonly<Record<string, fc.Arbitrary<string>>>;

/** @throws for a kind of schema that the document did not contain so far */
export function valuesOf(schema: Json, meanings: Meanings, name = ''): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return objectsOf(schema, meanings);
    case 'array':
      return fc.array(valuesOf(schema.items as Json, meanings, name), { maxLength: Number(schema.maxItems ?? 5) });
    case 'string':
      return textsOf(schema, meanings, name);
    case 'integer':
      return fc.integer({ min: Number(schema.minimum ?? -1_000), max: Number(schema.maximum ?? 1_000) });
    case 'boolean':
      return fc.boolean();
    default:
      throw new Error(`there is no rule for a schema like ${JSON.stringify(schema)}`);
  }
}

function objectsOf(schema: Json, meanings: Meanings): fc.Arbitrary<object> {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Json>>);
  const fields = Object.fromEntries(properties.map(([name, inner]) => [name, valuesOf(inner, meanings, name)]));
  return fc.record(fields, { requiredKeys: schema.required as string[], noNullPrototype: true });
}

function textsOf(schema: Json, meanings: Meanings, name: string): fc.Arbitrary<string> {
  if (schema.format === 'date-time') {
    const [min, max] = [new Date('2020-01-01'), new Date('2030-01-01')];
    return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString());
  }
  const any = fc.string({ minLength: Number(schema.minLength ?? 0), maxLength: 40 });
  const meant = meanings[name] ?? (schema.format === 'uri' ? meanings.url : undefined);
  return meant ? fc.oneof({ weight: 19, arbitrary: meant }, { weight: 1, arbitrary: any }) : any;
}
