/** docs/api.md, from the document that /openapi.json gives. */
import { ERRORS, FIELD_ERRORS } from '../src/http/error-codes.js';
import { ERROR, EXAMPLES } from './api-examples.js';
import { table } from './markdown-table.js';
import { Schemas, slug } from './schemas-markdown.js';

/** An error that so many operations have alike stands in the chapter of errors. */
const COMMON = 3;

const HEAD = `# The REST API

<!-- Written by \`make api-document\` from /openapi.json. Do not edit: a test compares. -->

`;

const READING = `In the examples, \`SERVICE\` is the address of the service, such as \`http://127.0.0.1:8080\`. \`accounts register\` prints
\`CLIENT_ID\` and \`CLIENT_SECRET\`. \`TOKEN\` is the \`access_token\` of \`POST /oauth/token\`, and \`PUBLISHER_TOKEN\` likewise, with the
credentials that \`publishers register\` prints. Your ids, times and tokens differ.

The answer to what changes something has \`success\`, always true, and \`message\`, a summary for people. They are not repeated below. Of
what is sent, \`?limit\` is a parameter of the query, and a name alone a field of the JSON body. \`{id}\` in a path is the id that the list
of what stands before it shows: of a webhook, recovery or session, or of a delivery, which its receiver gets as \`webhook-id\`, and which
all publications of an event to a webhook share.

The requests that the service sends to your URLs are described in [the receiver's guide](receivers.md), and under \`webhooks\` in
\`/openapi.json\`.`;

/** @param document OpenAPI 3.1, as openApiDocument makes it */
export function apiMarkdown(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
  );
  const schemas = new Schemas(document);
  const common = commonErrors(operations);
  const parts = [
    `${document.info.description} \`GET /openapi.json\` returns the same for machines, and which errors each operation has.`,
    table(
      ['for', 'operations'],
      document.tags.map((tag) => contents(tag, operations)).filter(([, links]) => links),
    ),
    READING,
    ...operations.map((one) => chapter(one, schemas, common)),
    '## Schemas',
    ...schemas.shared.map((name) => schemaChapter(name, schemas)),
    errors(schemas, common),
    headers(document),
  ];
  return `${HEAD}${parts.join('\n\n')}\n`;
}

/** By status and description: those of many operations. */
function commonErrors(operations) {
  const counts = new Map();
  for (const key of operations.flatMap(({ operation }) => errorsOf(operation).map(keyOf)))
    counts.set(key, (counts.get(key) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count >= COMMON).map(([key]) => key));
}

function errorsOf({ responses }) {
  return Object.entries(responses).filter(([status]) => status >= 300);
}

function keyOf([status, { description }]) {
  return JSON.stringify([status, description]);
}

/** A row of the table of contents; without links for requests that the service sends. */
function contents({ name, description }, operations) {
  const own = operations.filter(({ operation }) => operation.tags.includes(name));
  return [description, own.map(({ route }) => `[\`${route}\`](#${slug(route)})`).join(', ')];
}

function chapter({ route, operation }, schemas, common) {
  const successes = Object.entries(operation.responses).filter(([status]) => status < 300);
  const own = errorsOf(operation).filter((error) => !common.has(keyOf(error)));
  const sent = sentRows(operation, schemas);
  const parts = [
    `## ${route}\n\n${operation.description} ${AUTHENTICATION[kindOf(operation.security)]}`,
    sent.length > 0 && fields('sent', sent),
    // What a document has is said by its own standard.
    ...(operation.tags.includes('Documents') ? [] : successes.map((success) => answer(success, schemas))),
    own.map(([status, { description }]) => `- ${status}: ${description}`).join('\n'),
    operation.operationId in EXAMPLES && example(EXAMPLES[operation.operationId]),
  ];
  return parts.filter(Boolean).join('\n\n');
}

const AUTHENTICATION = {
  bearer: 'Needs a bearer token.',
  session: 'Needs the cookie of a session, and its id in the header `X-Console`.',
  publisher: 'Needs the bearer token of a publisher.',
  client: 'Needs the client id and secret, by HTTP Basic or as `client_id` and `client_secret` in the form.',
  none: 'Needs no token.',
};

function kindOf(security) {
  return (
    ['bearer', 'publisher', 'session', 'client'].find((kind) => security.some((scheme) => kind in scheme)) ?? 'none'
  );
}

function sentRows({ parameters = [], requestBody }, schemas) {
  const named = { query: (name) => `\`?${name}\``, header: (name) => `header \`${name}\`` };
  const given = parameters
    .filter(({ in: place }) => place !== 'path')
    .map(({ name, in: place, ...field }) => {
      return [named[place](name), schemas.typeOf(field.schema, field.required), field.description];
    });
  const bodies = Object.entries(requestBody?.content ?? {});
  const [[, { schema } = {}] = []] = bodies;
  if (bodies.length === 1 && schemas.of(schema).properties) return [...given, ...schemas.rows(schema)];
  return [
    ...given,
    ...bodies.map(([type, body]) => [
      `body \`${type}\``,
      schemas.typeOf(body.schema),
      schemas.of(body.schema).description,
    ]),
  ];
}

function answer([status, { description, content, headers: named = {} }], schemas) {
  const own = Object.entries(named).filter(([, header]) => !header.$ref);
  const said = own.map(([name, header]) => ` Header \`${name}\`: ${header.description ?? ''}`).join('');
  const { schema } = content['application/json'];
  const link = schemas.link(schema);
  if (link) return `**${status}** ${description} The body is a ${link}.${said}`;
  const rows = schemas.rows(schema);
  return `**${status}** ${description}${said}${rows.length > 0 ? `\n\n${fields('field', rows)}` : ''}`;
}

function schemaChapter(name, schemas) {
  const schema = schemas.of(name);
  return `### ${name}\n\n${schema.description}\n\n${fields('field', schemas.rows(schema))}`;
}

function example({ curl, answer: shown }) {
  const call = `\`\`\`sh\n${curl}\n\`\`\``;
  return shown ? `${call}\n${jsonBlock(shown)}` : call;
}

function jsonBlock(value) {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

/** `why` is for people only. */
function paramsOf(message) {
  const names = [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const shown = names.filter((name) => name !== 'field' && name !== 'why');
  return shown.map((name) => `\`${name}\``).join(', ');
}

function errors(schemas, common) {
  const rows = [...common].map((key) => JSON.parse(key)).sort(([one], [other]) => one - other);
  const codes = Object.entries(ERRORS).map(([code, [message, remedy, status]]) => {
    return [`\`${code}\``, status, paramsOf(message), remedy];
  });
  const ofFields = Object.entries(FIELD_ERRORS).map(([code, [message, remedy]]) => {
    return [`\`${code}\``, message, paramsOf(message), remedy];
  });
  return `## Errors

Every error has this body, except 400 to 429 of \`POST /oauth/token\`: these have the \`{ "error", "error_description" }\` of RFC 6749
section 5.2.

${fields('field', schemas.rows(schemas.of('Error')))}

${jsonBlock(ERROR)}

Those that many operations have, and that their chapters do not repeat: with a token 401, 403 and 503, of an account 404 and 429, with a
body 413 and 415, and everywhere 431 and 500.

${table(['error', 'when'], rows)}

The codes of errors, with the fields of their \`params\`:

${table(['code', 'status', 'params', 'remedy'], codes)}

The codes of the entries of \`errors\`, with the fields of their \`params\`:

${table(['code', 'message', 'params', 'remedy'], ofFields)}

An unknown path is 404. A known path with another method is 405, with an \`Allow\` header.`;
}

function headers({ components }) {
  const rows = Object.entries(components.headers).map(([name, { description }]) => [`\`${name}\``, description]);
  return `## Response headers\n\n${table(['header', 'meaning'], rows)}`;
}

/** A table; of one field a sentence. */
function fields(head, rows) {
  const [[name, type, description]] = rows;
  return rows.length === 1 ? `${name} (${type}): ${description}` : table([head, 'type', ''], rows);
}
