/** The fields of a JSON Schema, as rows of a table. */

/**
 * @param schema without a $ref (inlined does that)
 * @returns one for each field, those of inner objects after their own: { name: 'headers[].key', type, required, description }
 */
export function fieldsOf(schema, prefix = '') {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([key, inner]) => [
    { name: prefix + key, type: typeOf(inner), required: required.includes(key), description: inner.description ?? '' },
    ...innerFields(inner, prefix + key),
  ]);
}

function innerFields(schema, name) {
  if (schema.items) return fieldsOf(schema.items, `${name}[].`);
  return fieldsOf(schema, `${name}.`);
}

/** A part of the document with each $ref to a schema replaced by that schema. None of them holds itself. */
export function inlined(node, schemas) {
  if (Array.isArray(node)) return node.map((inner) => inlined(inner, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, inner]) => [key, inlined(inner, schemas)]);
  const { $ref, ...rest } = Object.fromEntries(entries);
  const name = /^#\/components\/schemas\/(.+)$/.exec($ref ?? '')?.[1];
  return name === undefined ? Object.fromEntries(entries) : { ...inlined(schemas[name], schemas), ...rest };
}

/** In words: 'string', 'integer or null', 'one of `a`, `b`', 'array, at most 5 items'. */
export function typeOf(schema) {
  if ('const' in schema) return `\`${schema.const}\``;
  if (schema.enum) return `one of ${schema.enum.map((value) => `\`${value}\``).join(', ')}`;
  const kind = [schema.type ?? 'any'].flat().map((type) => NAMES[schema.format] ?? type);
  const names = [...new Set(kind)].filter((name) => name !== 'null');
  if ([schema.type].flat().includes('null')) names.push('null');
  return [names.join(' or '), ...limitsOf(schema)].join(', ');
}

const NAMES = { 'date-time': 'time (ISO 8601)', uri: 'URL' };

function limitsOf({ minimum, maximum, maxItems, minLength, maxLength, additionalProperties, default: otherwise }) {
  return [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`to ${maximum}`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems} items`]),
    ...(minLength === undefined ? [] : ['not empty']),
    ...(maxLength === undefined ? [] : [`at most ${maxLength.toLocaleString('en')} characters`]),
    ...(additionalProperties ? [`name to ${typeOf(additionalProperties)}`] : []),
    ...(otherwise === undefined ? [] : [`${otherwise} by default`]),
  ];
}
