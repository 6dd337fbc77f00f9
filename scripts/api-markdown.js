/** docs/api.md, from the document that /openapi.json gives. */
import { ERRORS, FIELD_ERRORS } from '../src/http/error-codes.js';
import { curlOf, ERROR, EXAMPLES, filled, isOfPublishers, LINE } from './api-examples.js';
import { fieldsOf, typeOf } from './schema-fields.js';

/** An error that so many operations have alike stands in the chapter of errors. */
const COMMON = 7;
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
  const { schemas } = document.components;
  const shared = sharedIn(document, schemas);
  const common = commonErrors(operations);
  const parts = [
    `${document.info.description} \`GET /openapi.json\` returns the same for machines.`,
    table(
      ['operation', ''],
      operations.map((of) => [`[\`${routeOf(of)}\`](#${slug(routeOf(of))})`, of.operation.summary]),
    ),
    'In the examples, `SERVICE` is the address of the service, such as `http://127.0.0.1:8080`. `accounts register` prints ' +
      '`CLIENT_ID` and `CLIENT_SECRET`. `TOKEN` is the `access_token` of `POST /oauth/token`, and `PUBLISHER_TOKEN` likewise, with the credentials that `publishers register` prints. `SESSION_ID` and `CODE` are those of a session: `POST /api/portal-sessions` returns them, and `COOKIE` is what `POST /console/session` sets. Your ids, times and tokens differ.',
    'The answer to what changes something has `success`, always true, and `message`, a summary for people. They are not repeated below.',
    "The requests that the service sends to your URLs are described in [the receiver's guide](receivers.md), and under " +
      '`webhooks` in `/openapi.json`.',
    ...operations.map((of) => chapter(of, new Fields(schemas, shared), common)),
    '## Schemas',
    ...[...shared].map((name) => schemaChapter(name, new Fields(schemas, shared))),
    errors(document, new Fields(schemas, shared), common),
    headers(document),
  ];
  return `${HEAD}${parts.join('\n\n')}\n`;
}

/** The names of the schemas that are mentioned more than once, or hold such a place themselves. */
function sharedIn(document, schemas) {
  const mentions = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g) ?? [];
  const count = (name) => mentions.filter((mention) => mention.endsWith(`/${name}`)).length;
  return new Set(
    Object.keys(schemas).filter((name) => name !== 'Error' && schemas[name].properties && count(name) > 1),
  );
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

function routeOf({ method, path }) {
  return `${method.toUpperCase()} ${path}`;
}

function chapter(of, fields, common) {
  const { operation } = of;
  const parts = [
    `## ${routeOf(of)}`,
    `${operation.description} ${AUTHENTICATION[kindOf(operation.security)]}`,
    ...takes(operation, fields),
    ...Object.entries(operation.responses)
      .filter(([status]) => status < 300)
      .map(([status, response]) => gives(status, response, fields)),
    refusals(operation, common),
    example(of),
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

function takes({ parameters = [], requestBody }, fields) {
  const inPath = parameters.filter(({ in: place }) => place === 'path');
  const rows = parameters
    .filter(({ in: place }) => place !== 'path')
    .map(({ name, in: place, required, schema, description }) => [
      `\`${name}\``,
      place,
      typeOf(schema),
      required ? 'yes' : '',
      description,
    ]);
  const body = Object.entries(requestBody?.content ?? {}).map(
    ([mediaType, { schema }]) => `Takes a body, \`${mediaType}\`:\n\n${bodyText(fields.of(schema), fields)}`,
  );
  return [
    ...inPath.map(({ name, description }) => `\`{${name}}\`: ${description}`),
    ...(rows.length > 0 ? [table(['parameter', 'in', 'type', 'required', ''], rows)] : []),
    ...body,
  ];
}

function bodyText(schema, fields) {
  const items = schema.items && fields.of(schema.items);
  if (items) return `An array, ${typeOf(schema).split(', ').at(-1)}, each of which is a ${items.title}.`;
  return schema.properties ? fields.table(schema) : schema.description;
}

function gives(status, { description, content, headers: named = {} }, fields) {
  const told = Object.entries(named)
    .filter(([name]) => !LIMITS.includes(name))
    .map(([name, { description: says }]) => ` \`${name}\`${says ? `: ${says}` : ''}`);
  const { schema } = content['application/json'];
  const also = told.length > 0 ? ` Headers:${told.join(';').replace(/[.]?$/, '.')}` : '';
  const link = fields.link(schema);
  if (link) return `**${status}** ${description} The body is a ${link}.${also}`;
  const own = fields.table(schema, DONE);
  return own ? `**${status}** ${description}${also}\n\n${own}` : `**${status}** ${description}${also}`;
}

function schemaChapter(name, fields) {
  const schema = fields.schemas[name];
  return `### ${name}\n\n${schema.description ?? ''}\n\n${fields.table(schema)}`;
}

/** Tables of fields: a schema of the document's own that several operations use is a link to its chapter. */
class Fields {
  constructor(schemas, shared) {
    this.schemas = schemas;
    this.shared = shared;
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

  /** @param without the names of fields that stand elsewhere. @returns empty if there is no other */
  table(schema, without = []) {
    const rows = fieldsOf(schema, this)
      .filter(({ name }) => !without.includes(name))
      .map(({ name, type, required, description }) => [`\`${name}\``, type, required ? 'yes' : '', description]);
    return rows.length > 0 ? table(['field', 'type', 'required', ''], rows) : '';
  }
}

function nameOf($ref) {
  return $ref.split('/').at(-1);
}

function refusals(operation, common) {
  const all = errorsOf(operation);
  const usual = [...new Set(all.filter((error) => common.has(keyOf(error))).map(([status]) => status))];
  const own = all.filter((error) => !common.has(keyOf(error)));
  const told = usual.length > 0 ? `Errors, [as everywhere](#errors): ${usual.join(', ')}.` : 'Errors:';
  return [told, ...own.map(([status, { description }]) => `- ${status}: ${description}`)].join('\n');
}

/** As the headings of Markdown get their anchors. */
function slug(heading) {
  const kept = heading.toLowerCase().replace(/[^\w -]/g, '');
  return kept.replaceAll(' ', '-');
}

function example({ method, path, operation }) {
  const { answer } = EXAMPLES[operation.operationId];
  const call = `\`\`\`sh\n${curlOf(method, path, operation)}\n\`\`\``;
  const isPlain = Object.keys(answer).every((name) => DONE.includes(name));
  return isPlain ? call : `${call}\n\`\`\`json\n${compact(answer)}\n\`\`\``;
}

/** `why` is for people only. */
function paramsOf(message) {
  const names = [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return names.filter((name) => name !== 'field' && name !== 'why');
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
    fields.table(components.schemas.Error),
    `\`\`\`json\n${compact(ERROR)}\n\`\`\``,
    'Those that most operations have, each as far as its own chapter names the status:',
    table(['error', 'when'], rows),
    'The codes of errors:',
    table(
      ['code', 'status', 'remedy'],
      Object.entries(ERRORS).flatMap(([status, codes]) =>
        Object.entries(codes).map(([code, [, remedy]]) => [`\`${code}\``, status, remedy]),
      ),
    ),
    'The codes of the entries of `errors`, with the fields of their `params`:',
    table(
      ['code', 'message', 'params', 'remedy'],
      Object.entries(FIELD_ERRORS).map(([code, [message, remedy]]) => [
        `\`${code}\``,
        message,
        paramsOf(message)
          .map((name) => `\`${name}\``)
          .join(', '),
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
