/** OpenAPI 3.1, put together from what the operations say of themselves and what stands before each of them. */
import type { Operation, Parameter, Response, Schema } from './operation.js';
import { refusal } from './operation.js';

export interface DocumentOptions {
  /** Of the service. */
  readonly version: string;
  /** False where another issuer's tokens are taken. */
  readonly issuesTokens: boolean;
}

export function openApiDocument(operations: readonly Operation[], options: DocumentOptions): Schema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const methods = paths[operation.path] ?? {};
    paths[operation.path] = { ...methods, [operation.method]: described(operation, options) };
  }
  const info = { title: 'account-webhooks', version: options.version, description: DESCRIPTION };
  return { openapi: '3.1.0', info, paths, components: components(options) };
}

const DESCRIPTION =
  'Webhooks of instant-payment accounts. Unknown fields of a body are ignored. Every answer has Cache-Control: no-store.';

function described(operation: Operation, { issuesTokens }: DocumentOptions): Schema {
  const { id, summary, security, body, parameters = [] } = operation;
  const schemes = { bearer: issuesTokens ? [{ bearer: [] }, { token: [] }] : [{ bearer: [] }], none: [] };
  const responses = { ...common(operation), ...operation.responses };
  return {
    operationId: id,
    summary,
    // The client's own credentials may stand in the form as well: then no scheme is used.
    security: security === 'client' ? [{ client: [] }, {}] : schemes[security],
    ...(parameters.length > 0 && { parameters: parameters.map(parameter) }),
    ...(body && { requestBody: { required: true, content: { [MEDIA_TYPES[body.type]]: { schema: body.schema } } } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, answer(operation, Number(status), response)]),
    ),
  };
}

const MEDIA_TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

function common({ security, rateLimit, body }: Operation): Readonly<Record<number, Response>> {
  return {
    ...(security === 'bearer' && { 401: refusal('The token is missing, or not valid.') }),
    ...(body && { 400: refusal('The body is not valid.') }),
    ...(body && { 413: refusal('The body has more than 65,536 bytes.') }),
    ...(body && { 415: refusal('The media type is another, or the content-encoding is not known.') }),
    ...(rateLimit && { 429: refusal('Too many requests of this account.') }),
    ...(security === 'bearer' && { 503: refusal("The keys of the token's issuer (AUTH_JWKS_URL) can't be reached.") }),
    500: refusal('The service can not do it now; it is safe to ask again.'),
  };
}

function parameter({ required = false, ...rest }: Parameter): Schema {
  return { ...rest, required };
}

function answer({ security, rateLimit }: Operation, status: number, response: Response): Schema {
  // Requests count once it is known whose they are; what was not authenticated has no figures.
  const counted = rateLimit && status !== 401 && (security === 'bearer' || status === 200 || status === 429);
  const names = [
    ...(counted ? ['RateLimit-Policy', 'RateLimit'] : []),
    ...(status === 429 || status === 503 ? ['Retry-After'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
  ];
  const headers = {
    ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...Object.fromEntries(Object.entries(response.headers ?? {}).map(([name, text]) => [name, header(text)])),
  };
  return {
    description: response.description,
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { 'application/json': { schema: response.schema } },
  };
}

function header(description: string): Schema {
  return { description, schema: { type: 'string' } };
}

function components({ issuesTokens }: DocumentOptions): Schema {
  return {
    schemas: SCHEMAS,
    headers: HEADERS,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      ...(issuesTokens && {
        token: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/oauth/token', scopes: {} } } },
        client: { type: 'http', scheme: 'basic', description: 'Client id and secret.' },
      }),
    },
  };
}

const HEADERS = {
  'RateLimit-Policy': header('The requests that are taken, of the account, in a window of seconds: "name";q=...;w=...'),
  RateLimit: header('What is left of them, and the seconds until there is more: "name";r=...;t=...'),
  'Retry-After': header('Seconds.'),
  'WWW-Authenticate': header('How to authenticate (RFC 6750 3, RFC 6749 5.2).'),
};

const SCHEMAS = {
  Done: {
    type: 'object',
    required: ['success', 'message'],
    properties: { success: { const: true }, message: { type: 'string' } },
  },
  Error: {
    type: 'object',
    required: ['success', 'message'],
    properties: {
      success: { const: false },
      message: { type: 'string' },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['field', 'message'],
          properties: {
            field: { type: 'string', examples: ['url', 'headers[0].key', 'isActive', 'Idempotency-Key'] },
            message: { type: 'string' },
          },
        },
      },
    },
  },
};
