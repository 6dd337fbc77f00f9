/**
 * What an operation looks like from outside. The server makes its route and what stands before it from this, and
 * /openapi.json is put together from it, so the document says what the service does.
 */

/** JSON Schema (2020-12, which OpenAPI 3.1 takes as it is); may refer to #/components/schemas/... of openapi-document.ts. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Operation {
  /** As generated clients name it. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** With its parameters in braces: /api/webhooks/{id}. */
  readonly path: string;
  readonly summary: string;
  /** bearer: 401 before anything else; client: the operation itself authenticates the client. */
  readonly security: 'bearer' | 'client' | 'none';
  /** The limit its requests count to. With `bearer` they count before anything else of the request is looked at. */
  readonly rateLimit?: 'writes' | 'tokens';
  /** Without it a body is not looked at. */
  readonly body?: { readonly type: 'json' | 'form'; readonly schema: Schema };
  readonly parameters?: readonly Parameter[];
  /** By status. What stands before the operation adds its own: 400, 401, 413, 415, 429 and 500. */
  readonly responses: Readonly<Record<number, Response>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

export interface Response {
  readonly description: string;
  readonly schema: Schema;
  /** Name -> what it says. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** { success: true, message } */
export const DONE: Schema = { $ref: '#/components/schemas/Done' };
/** { success: false, message, errors? } */
export const ERROR: Schema = { $ref: '#/components/schemas/Error' };

export function refusal(description: string): Response {
  return { description, schema: ERROR };
}

export const WEBHOOK_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id that the listing shows.',
  schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
};
