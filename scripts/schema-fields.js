/** The fields of a JSON Schema, as rows of a table. */

/**
 * @param refs `of` gives what a reference means; `link` a link for what is not shown again, or null
 * @returns one for each field, those of inner objects after their own: { name: 'headers[].key', type, required, description }
 */
export function fieldsOf(schema, refs, prefix = '') {
  const { properties = {}, required = [] } = refs.of(schema);
  return Object.entries(properties).flatMap(([key, inner]) => {
    const meant = refs.of(inner);
    const { description = '' } = meant;
    const name = prefix + key;
    const field = { name, type: linkedType(inner, refs), required: required.includes(key), description };
    return [field, ...innerFields(inner, refs, name)];
  });
}

function linkedType(schema, refs) {
  const link = refs.link(schema) ?? (schema.items && refs.link(schema.items));
  if (!link) return typeOf(refs.of(schema));
  return schema.items ? [`array of ${link}`, ...limitsOf(schema)].join(', ') : link;
}

function innerFields(schema, refs, name) {
  if (refs.link(schema)) return [];
  const { items } = refs.of(schema);
  if (items) return refs.link(items) ? [] : fieldsOf(items, refs, `${name}[].`);
  return fieldsOf(schema, refs, `${name}.`);
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
