/** docs/api.md, from the document that /openapi.json gives. */
import { curlOf, ERROR, EXAMPLES, isOfPublishers } from './api-examples.js';
import { fieldsOf, inlined, typeOf } from './schema-fields.js';

const HEAD = `# The REST API

<!-- Written by \`make api-document\` from /openapi.json. Do not edit: a test compares. -->

`;

/** @param given OpenAPI 3.1, as openApiDocument makes it */
export function apiMarkdown(given) {
  const document = inlined(given, given.components.schemas);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const parts = [
    `${document.info.description} \`GET /openapi.json\` returns the same for machines.`,
    table(
      ['operation', ''],
      operations.map((of) => [
        `[\`${routeOf(of)}\`](#${of.operation.operationId.toLowerCase()})`,
        of.operation.summary,
      ]),
    ),
    'In the examples, `SERVICE` is the address of the service, such as `http://127.0.0.1:8080`. `accounts register` prints ' +
      '`CLIENT_ID` and `CLIENT_SECRET`. `TOKEN` is the `access_token` of `POST /oauth/token`, and `PUBLISHER_TOKEN` likewise, with the credentials that `publishers register` prints. `SESSION_ID` and `CODE` are those of a session: `POST /api/portal-sessions` returns them, and `COOKIE` is what `POST /console/session` sets. Your ids, times and tokens differ.',
    "The requests that the service sends to your URLs are described in [the receiver's guide](receivers.md), and under " +
      '`webhooks` in `/openapi.json`.',
    ...operations.map(chapter),
    errors(document),
    headers(document),
  ];
  return `${HEAD}${parts.join('\n\n')}\n`;
}

function routeOf({ method, path }) {
  return `${method.toUpperCase()} ${path}`;
}

function chapter(of) {
  const { operation } = of;
  const parts = [
    `<a id="${operation.operationId.toLowerCase()}"></a>\n\n## ${routeOf(of)}`,
    `${operation.description} ${AUTHENTICATION[kindOf(operation.security)]}`,
    ...takes(operation),
    ...Object.entries(operation.responses)
      .filter(([status]) => status < 300)
      .map(([status, response]) => gives(status, response)),
    refusals(operation),
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

function takes({ parameters = [], requestBody }) {
  const rows = parameters.map(({ name, in: place, required, schema, description }) => [
    `\`${name}\``,
    place,
    typeOf(schema),
    required ? 'yes' : '',
    description,
  ]);
  const body = Object.entries(requestBody?.content ?? {}).map(
    ([mediaType, { schema }]) => `Takes a body, \`${mediaType}\`:\n\n${bodyText(schema)}`,
  );
  return [...(rows.length > 0 ? [table(['parameter', 'in', 'type', 'required', ''], rows)] : []), ...body];
}

function bodyText(schema) {
  if (schema.items) return `An array, ${typeOf(schema).split(', ').at(-1)}, each of which is a ${schema.items.title}.`;
  return schema.properties ? fieldTable(schema) : schema.description;
}

function gives(status, { description, content, headers: named = {} }) {
  const told = Object.entries(named).map(([name, { description: says }]) => ` \`${name}\`${says ? `: ${says}` : ''}`);
  const { schema } = content['application/json'];
  const also = told.length > 0 ? `\n\nHeaders:${told.join(';').replace(/[.]?$/, '.')}` : '';
  return `**${status}** ${description}\n\n${fieldTable(schema)}${also}`;
}

function fieldTable(schema) {
  const rows = fieldsOf(schema).map(({ name, type, required, description }) => [
    `\`${name}\``,
    type,
    required ? 'yes' : '',
    description,
  ]);
  return table(['field', 'type', 'required', ''], rows);
}

function refusals({ responses }) {
  const rows = Object.entries(responses)
    .filter(([status]) => status >= 300)
    .map(([status, { description, headers: named = {} }]) => [
      status,
      description,
      Object.keys(named)
        .map((name) => `\`${name}\``)
        .join(', '),
    ]);
  return table(['error', 'when', 'headers'], rows);
}

function example({ method, path, operation }) {
  const answer = JSON.stringify(EXAMPLES[operation.operationId].answer, null, 2);
  return `\`\`\`sh\n${curlOf(method, path, operation)}\n\`\`\`\n\n\`\`\`json\n${answer}\n\`\`\``;
}

function errors({ components }) {
  return [
    '## Errors',
    'Every error has this body, except 400 to 429 of `POST /oauth/token`: these have the `{ "error", "error_description" }` of ' +
      'RFC 6749 section 5.2.',
    fieldTable(components.schemas.Error),
    `\`\`\`json\n${JSON.stringify(ERROR, null, 2)}\n\`\`\``,
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
