/** The fields of JSON Schemas as rows of tables. A schema that several places use is a chapter of its own, and linked. */
export class Schemas {
  #schemas;

  /** @param document OpenAPI 3.1 */
  constructor(document) {
    this.#schemas = document.components.schemas;
    const uses = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g);
    const isUsedTwice = (name) => uses.filter((use) => use.endsWith(`/${name}`)).length > 1;
    const names = Object.keys(this.#schemas).filter((name) => !name.endsWith('Error') && isUsedTwice(name));
    /** Their names. */
    this.shared = names.filter((name) => fieldsOf(this.#schemas[name]).length > 1);
  }

  /** @param schema a name or a schema; what stands beside a reference goes before what it refers to */
  of(schema) {
    if (typeof schema === 'string') return this.#schemas[schema];
    const { $ref, ...rest } = schema;
    return $ref ? { ...this.#schemas[nameOf($ref)], ...rest } : schema;
  }

  /** Null for what is no chapter. */
  link({ $ref = '' }) {
    const name = nameOf($ref);
    return this.shared.includes(name) ? `[${name}](#${slug(name)})` : null;
  }

  /** Name, type and description of each field, and of those of inner objects after their own: `headers[].key`. */
  rows(schema, prefix = '') {
    const { required = [] } = this.of(schema);
    return fieldsOf(this.of(schema)).flatMap(([key, inner]) => {
      const name = prefix + key;
      const row = [`\`${name}\``, this.typeOf(inner, required.includes(key)), this.of(inner).description];
      const { items } = this.of(inner);
      const within = items ?? inner;
      return this.link(within) ? [row] : [row, ...this.rows(within, items ? `${name}[].` : `${name}.`)];
    });
  }

  /** In words: 'string', 'integer or null', 'one of `a`, `b`', 'array of [Webhook](#webhook), at most 5 items, required'. */
  typeOf(schema, required = false) {
    const meant = this.of(schema);
    const linked = this.link(schema) ?? (meant.items && this.link(meant.items) && `array of ${this.link(meant.items)}`);
    const words = this.link(schema) ? [linked] : [linked ?? kindOf(meant), ...this.#limitsOf(meant)];
    return [...words, ...(required ? ['required'] : [])].join(', ');
  }

  #limitsOf(schema) {
    const { minimum, maximum, maxItems, minLength, maxLength, additionalProperties, default: otherwise } = schema;
    const limits = [
      [minimum, `from ${minimum}`],
      [maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum, `to ${maximum}`],
      [maxItems, `at most ${maxItems} items`],
      [minLength, 'not empty'],
      [maxLength, `at most ${maxLength?.toLocaleString('en')} characters`],
      [additionalProperties || undefined, additionalProperties && `name to ${this.typeOf(additionalProperties)}`],
      [otherwise, `${otherwise} by default`],
    ];
    return limits.filter(([limit]) => limit !== undefined).map(([, words]) => words);
  }
}

/** Without what every answer to a command has: `success`, which is always true, and its message. */
function fieldsOf({ properties = {} }) {
  const { success, message, ...rest } = properties;
  return Object.entries(success?.const === true ? rest : properties);
}

function kindOf(schema) {
  if ('const' in schema) return `\`${schema.const}\``;
  if (schema.enum) return `one of ${schema.enum.map((value) => `\`${value}\``).join(', ')}`;
  const kinds = [schema.type ?? 'any']
    .flat()
    .map((type) => (type === 'null' ? type : (FORMATS[schema.format] ?? type)));
  return [...new Set(kinds)].join(' or ');
}

const FORMATS = { 'date-time': 'time (ISO 8601)', uri: 'URL' };

function nameOf($ref) {
  return $ref.split('/').at(-1);
}

/** As the headings of Markdown get their anchors. */
export function slug(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
