/** docs/api.md, from the document that /openapi.json gives. */
import { curlOf, ERROR, EXAMPLES } from './api-examples.js';
import { fieldsOf, typeOf } from './schema-fields.js';

const HEAD = `# The REST API

<!-- Written by \`make api-document\` from /openapi.json. Do not edit: a test compares. -->

`;

/** @param document OpenAPI 3.1, as openApiDocument makes it */
export function apiMarkdown(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const parts = [
    `${document.info.description} The same for machines: \`GET /openapi.json\`.`,
    table(
      ['operation', ''],
      operations.map((of) => [
        `[\`${routeOf(of)}\`](#${of.operation.operationId.toLowerCase()})`,
        of.operation.summary,
      ]),
    ),
    'In the examples `SERVICE` is where the service is, say `http://127.0.0.1:8080`; `CLIENT_ID` and `CLIENT_SECRET` are ' +
      'what `accounts register` printed; `TOKEN` is the `access_token` of `POST /oauth/token`. Ids, times and tokens are yours.',
    ...operations.map((of) => chapter(of, document)),
    errors(document),
    headers(document),
  ];
  return `${HEAD}${parts.join('\n\n')}\n`;
}

function routeOf({ method, path }) {
  return `${method.toUpperCase()} ${path}`;
}

function chapter(of, document) {
  const { operation } = of;
  const parts = [
    `<a id="${operation.operationId.toLowerCase()}"></a>\n\n## ${routeOf(of)}`,
    `${operation.summary} ${AUTHENTICATION[kindOf(operation.security)]}`,
    ...takes(operation),
    ...Object.entries(operation.responses)
      .filter(([status]) => status < 300)
      .map(([status, response]) => gives(status, response, document)),
    refusals(operation),
    example(of),
  ];
  return parts.join('\n\n');
}

const AUTHENTICATION = {
  bearer: 'Needs a bearer token.',
  client: 'Needs the client id and secret, by HTTP Basic or as `client_id` and `client_secret` in the form.',
  none: 'Needs no token.',
};

function kindOf(security) {
  if (security.some((scheme) => 'bearer' in scheme)) return 'bearer';
  return security.some((scheme) => 'client' in scheme) ? 'client' : 'none';
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
    ([mediaType, { schema }]) => `Takes a body, \`${mediaType}\`:\n\n${fieldTable(schema)}`,
  );
  return [...(rows.length > 0 ? [table(['parameter', 'in', 'type', 'required', ''], rows)] : []), ...body];
}

function gives(status, { description, content, headers: named = {} }, document) {
  const told = Object.entries(named).map(([name, { description: says }]) => ` \`${name}\`${says ? `: ${says}` : ''}`);
  const { schema } = content['application/json'];
  const also = told.length > 0 ? `\n\nHeaders:${told.join(';').replace(/[.]?$/, '.')}` : '';
  return `**${status}** ${description}\n\n${fieldTable(resolved(schema, document))}${also}`;
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
    'Every error but those of `POST /oauth/token`, which are RFC 6749 5.2\'s `{ "error", "error_description" }`, is:',
    fieldTable(components.schemas.Error),
    `\`\`\`json\n${JSON.stringify(ERROR, null, 2)}\n\`\`\``,
    'An unknown path is 404, a known one with another method 405 with `Allow`.',
  ].join('\n\n');
}

function headers({ components }) {
  const rows = Object.entries(components.headers).map(([name, { description }]) => [`\`${name}\``, description]);
  return `## Headers of answers\n\n${table(['header', 'says'], rows)}`;
}

function resolved(schema, { components }) {
  return schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n').replace(/ {2,}\|/g, ' |');
}
