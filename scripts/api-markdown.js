/** docs/api.md, from the document that /openapi.json gives. */
import { isDeepStrictEqual } from 'node:util';
import { ERRORS, FIELD_ERRORS } from '../src/http/error-codes.js';
import { curlOf, ERROR, EXAMPLES, filled, isOfPublishers, LINE } from './api-examples.js';
import { fieldsOf, typeOf } from './schema-fields.js';

/** An error that so many operations have alike stands in the chapter of errors. */
const COMMON = 3;
/** A schema that has so many fields of another one, and at most one of them with another meaning, refers to it. */
const ALIKE = 4;
/** What was done, in every answer to a command. */
const DONE = ['success', 'message'];
const LIMITS = ['RateLimit-Policy', 'RateLimit'];

const HEAD = `# The REST API

<!-- Written by \`make api-document\` from /openapi.json. Do not edit: a test compares. -->

`;

/** @param document OpenAPI 3.1, as openApiDocument makes it */
export function apiMarkdown(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const fields = new Fields(document);
  const common = commonErrors(operations);
  const parts = [
    `${document.info.description} \`GET /openapi.json\` returns the same for machines, and which errors each operation has.`,
    table(
      ['for', 'operations'],
      document.tags.flatMap((tag) => contents(tag, operations)),
    ),
    'In the examples, `SERVICE` is the address of the service, such as `http://127.0.0.1:8080`. `accounts register` prints ' +
      '`CLIENT_ID` and `CLIENT_SECRET`. `TOKEN` is the `access_token` of `POST /oauth/token`, and `PUBLISHER_TOKEN` likewise, with the credentials that `publishers register` prints. Your ids, times and tokens differ.',
    'The answer to what changes something has `success`, always true, and `message`, a summary for people. They are not repeated below. ' +
      'Of what is sent, `?limit` is a parameter of the query, and a name alone a field of the JSON body. `{id}` in a path is the id that the list of what stands before it shows: of a webhook, recovery or session, or of a delivery, which its receiver gets as `webhook-id`, and which all publications of an event to a webhook share.',
    "The requests that the service sends to your URLs are described in [the receiver's guide](receivers.md), and under " +
      '`webhooks` in `/openapi.json`.',
    ...operations.map((of) => chapter(of, fields, common)),
    '## Schemas',
    ...[...fields.shared].map((name) => schemaChapter(name, fields)),
    errors(document, fields, common),
    headers(document),
  ];
  return `${HEAD}${parts.join('\n\n')}\n`;
}

/** By status and description: those of many operations. */
function commonErrors(operations) {
  const counts = new Map();
  for (const { operation } of operations) {
    for (const key of errorsOf(operation).map(keyOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count >= COMMON).map(([key]) => key));
}

function errorsOf({ responses }) {
  return Object.entries(responses).filter(([status]) => status >= 300);
}

function keyOf([status, { description }]) {
  return JSON.stringify([status, description]);
}

/** A row of the table of contents; none for requests that the service sends. */
function contents({ name, description }, operations) {
  const links = operations
    .filter(({ operation }) => operation.tags.includes(name))
    .map((of) => `[\`${routeOf(of)}\`](#${slug(routeOf(of))})`);
  return links.length > 0 ? [[description, links.join(', ')]] : [];
}

function routeOf({ method, path }) {
  return `${method.toUpperCase()} ${path}`;
}

function chapter(of, fields, common) {
  const { operation } = of;
  const answers = Object.entries(operation.responses).filter(([status]) => status < 300);
  const parts = [
    `## ${routeOf(of)}`,
    `${operation.description} ${AUTHENTICATION[kindOf(operation.security)]}`,
    ...takes(operation, fields),
    // What a document has is said by its own standard.
    ...(operation.tags.includes('Documents')
      ? []
      : answers.map(([status, response]) => gives(status, response, fields))),
    ...refusals(operation, common),
    ...example(of),
  ];
  return parts.join('\n\n');
}

const AUTHENTICATION = {
  bearer: 'Needs a bearer token.',
  session: 'Needs the cookie of a session, and its id in the header `X-Console`.',
  publisher: 'Needs the bearer token of a publisher.',
  client: 'Needs the client id and secret, by HTTP Basic or as `client_id` and `client_secret` in the form.',
  none: 'Needs no token.',
};

function kindOf(security) {
  if (isOfPublishers(security)) return 'publisher';
  if (security.some((scheme) => 'bearer' in scheme)) return 'bearer';
  return ['session', 'client'].find((kind) => security.some((scheme) => kind in scheme)) ?? 'none';
}

const NAMES = {
  query: (name) => `\`?${name}\``,
  header: (name) => `header \`${name}\``,
};

function takes({ parameters = [], requestBody }, fields) {
  const asked = parameters.filter(({ in: place }) => place !== 'path');
  const given = asked.map(({ name, in: place, required, schema, description }) => {
    return [NAMES[place](name), typed(typeOf(fields.of(schema)), required), description];
  });
  const bodies = Object.entries(requestBody?.content ?? {});
  const [[, { schema } = {}] = []] = bodies;
  const isJson = bodies.length === 1 && fields.of(schema).properties;
  const rows = [...given, ...(isJson ? fields.rows(schema, []) : [])];
  const others = isJson ? [] : bodies;
  return [
    ...(isJson ? fields.baseText(schema) : []),
    ...listed(['sent', 'type', ''], rows),
    ...others.map(([mediaType, body]) => `Takes a body, \`${mediaType}\`: ${bodyText(body.schema, fields)}`),
  ];
}

function bodyText(schema, fields) {
  const link = fields.link(schema);
  if (link) return `a ${link}.`;
  const { items, description } = fields.of(schema);
  return items
    ? `an array, ${typeOf(schema).split(', ').at(-1)}, each of which is a ${fields.link(items)}.`
    : description;
}

function gives(status, { description, content, headers: named = {} }, fields) {
  const told = Object.entries(named)
    .filter(([name]) => !LIMITS.includes(name))
    .map(([name, { description: says }]) => ` \`${name}\`${says ? `: ${says}` : ''}`);
  const { schema } = content['application/json'];
  const also = told.length > 0 ? ` Headers:${told.join(';').replace(/[.]?$/, '.')}` : '';
  const link = fields.link(schema);
  if (link) return `**${status}** ${description} The body is a ${link}.${also}`;
  const rows = fields.rows(schema, DONE);
  const said = `**${status}** ${description}${also}`;
  return rows.length === 1 ? `${said} ${sentence(rows[0])}` : [said, ...listed(ANSWER, rows)].join('\n\n');
}

/** A table; for one row a sentence. */
function listed(head, rows) {
  if (rows.length === 1) return [sentence(rows[0])];
  return rows.length > 0 ? [table(head, rows)] : [];
}

function sentence([name, type, says]) {
  return `${name} (${type}): ${says}`;
}

/** Fields of answers are there unless they are `optional`, and those of requests are `required` or not. */
const ANSWER = ['field', 'type', ''];

function schemaChapter(name, fields) {
  const schema = fields.schemas[name];
  return [
    `### ${name}`,
    schema.description ?? '',
    ...fields.baseText(schema),
    table(ANSWER, fields.rows(schema, [])),
  ].join('\n\n');
}

function typed(type, required) {
  return required ? `${type}, required` : type;
}

/** The schemas' fields as rows of tables. A schema that several places use, or that others extend, is a chapter and links. */
class Fields {
  #bases = new Map();

  constructor(document) {
    this.schemas = document.components.schemas;
    for (const [name, schema] of Object.entries(this.schemas)) {
      const base = Object.keys(this.schemas).find((other) => other !== name && extend(schema, this.schemas[other]));
      if (base) this.#bases.set(schema, base);
    }
    const mentions = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g) ?? [];
    const related = new Set([...this.#bases].flatMap(([schema, base]) => [schema, this.schemas[base]]));
    const isShared = ([name, schema]) =>
      related.has(schema) || mentions.filter((mention) => mention.endsWith(`/${name}`)).length > 1;
    const isLarge = ([name, { properties = {} }]) =>
      !name.endsWith('Error') && Object.keys(properties).filter((field) => !DONE.includes(field)).length > 1;
    const entries = Object.entries(this.schemas).filter((entry) => isLarge(entry) && isShared(entry));
    this.shared = new Set(entries.map(([name]) => name));
  }

  /** The schema that a reference means, with what stands beside it. */
  of(schema) {
    const { $ref, ...rest } = schema;
    return $ref ? { ...this.schemas[nameOf($ref)], ...rest } : schema;
  }

  link({ $ref = '' }) {
    const name = nameOf($ref);
    return this.shared.has(name) ? `[${name}](#${slug(name)})` : null;
  }

  /** Without those of the schema that it extends. @param without the names of fields that stand elsewhere */
  rows(schema, without) {
    const base = this.#baseOf(schema);
    const own = Object.entries(this.of(schema).properties ?? {}).filter(
      ([name, field]) => !without.includes(name) && !isDeepStrictEqual(base?.properties[name], field),
    );
    return fieldsOf({ ...this.of(schema), properties: Object.fromEntries(own) }, this).map((field) => {
      return [`\`${field.name}\``, typed(field.type, field.required), field.description];
    });
  }

  baseText(schema) {
    const base = this.#bases.get(this.#named(schema));
    return base ? [`The fields of [${base}](#${slug(base)}), and these:`] : [];
  }

  #baseOf(schema) {
    return this.schemas[this.#bases.get(this.#named(schema))];
  }

  #named(schema) {
    return schema.$ref ? this.schemas[nameOf(schema.$ref)] : schema;
  }
}

/** Whether the one has all fields of the other, and more. */
function extend({ properties: more = {} }, { properties: base = {} }) {
  const names = Object.keys(base);
  const alike = names.filter((name) => isDeepStrictEqual(more[name], base[name])).length;
  const isLarger = Object.keys(more).length > names.length && names.every((name) => name in more);
  return isLarger && alike >= ALIKE && alike >= names.length - 1;
}

function nameOf($ref) {
  return $ref.split('/').at(-1);
}

function refusals(operation, common) {
  const own = errorsOf(operation).filter((error) => !common.has(keyOf(error)));
  const lines = own.map(([status, { description }]) => `- ${status}: ${description}`);
  return lines.length > 0 ? [lines.join('\n')] : [];
}

/** As the headings of Markdown get their anchors. */
function slug(heading) {
  const kept = heading.toLowerCase().replace(/[^\w -]/g, '');
  return kept.replaceAll(' ', '-');
}

function example({ method, path, operation }) {
  const { answer } = EXAMPLES[operation.operationId] ?? {};
  if (!(operation.operationId in EXAMPLES)) return [];
  const call = `\`\`\`sh\n${curlOf(method, path, operation)}\n\`\`\``;
  return [answer ? `${call}\n\`\`\`json\n${compact(answer)}\n\`\`\`` : call];
}

/** `why` is for people only. */
function paramsOf(message) {
  const names = [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const shown = names.filter((name) => name !== 'field' && name !== 'why');
  return shown.map((name) => `\`${name}\``).join(', ');
}

/** JSON in as few lines as LINE allows. */
function compact(value, indent = '') {
  const line = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || indent.length + line.length <= LINE) return line;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const inner = Object.entries(value).map(([key, each]) => {
    const name = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `;
    return `${name}${compact(each, `${indent}  `)}`;
  });
  const lines = filled(inner, ', ', LINE - indent.length - 2);
  return `${open}\n${lines.map((each) => `${indent}  ${each}`).join(',\n')}\n${indent}${close}`;
}

function errors({ components }, fields, common) {
  const rows = [...common].map((key) => JSON.parse(key)).sort(([one], [other]) => one - other);
  return [
    '## Errors',
    'Every error has this body, except 400 to 429 of `POST /oauth/token`: these have the `{ "error", "error_description" }` of ' +
      'RFC 6749 section 5.2.',
    table(ANSWER, fields.rows(components.schemas.Error, [])),
    `\`\`\`json\n${compact(ERROR)}\n\`\`\``,
    'Those that many operations have, and that their chapters do not repeat: with a token 401, 403 and 503, of an account 404 and ' +
      '429, with a body 413 and 415, and everywhere 431 and 500.',
    table(['error', 'when'], rows),
    'The codes of errors, with the fields of their `params`:',
    table(
      ['code', 'status', 'params', 'remedy'],
      Object.entries(ERRORS).flatMap(([status, codes]) =>
        Object.entries(codes).map(([code, [message, remedy]]) => [`\`${code}\``, status, paramsOf(message), remedy]),
      ),
    ),
    'The codes of the entries of `errors`, with the fields of their `params`:',
    table(
      ['code', 'message', 'params', 'remedy'],
      Object.entries(FIELD_ERRORS).map(([code, [message, remedy]]) => [
        `\`${code}\``,
        message,
        paramsOf(message),
        remedy,
      ]),
    ),
    'An unknown path is 404. A known path with another method is 405, with an `Allow` header.',
  ].join('\n\n');
}

function headers({ components }) {
  const rows = Object.entries(components.headers).map(([name, { description }]) => [`\`${name}\``, description]);
  return `## Response headers\n\n${table(['header', 'meaning'], rows)}`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n').replace(/ {2,}\|/g, ' |');
}
