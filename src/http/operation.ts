/**
 * What an operation looks like from outside. The server makes its route and what stands before it from this, and
 * /openapi.json is put together from it, so the document says what the service does.
 */
import { ERROR } from './shared-schemas.js';

/**
 * JSON Schema (2020-12, which OpenAPI 3.1 takes as it is). One with a title becomes a component of that name: generated
 * clients call its type so.
 */
export type Schema = Readonly<Record<string, unknown>>;

export type Tag = 'Webhooks' | 'Deliveries' | 'Authentication' | 'Documents' | 'Payment events';

export interface Operation {
  /** As generated clients name it. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** With its parameters in braces: /api/webhooks/{id}. */
  readonly path: string;
  readonly tag: Tag;
  /** A line of a table of contents, without a full stop. */
  readonly summary: string;
  /** Sentences: what it does, and what a caller has to know of it. */
  readonly description: string;
  /** bearer: 401 before anything else; client: the operation itself authenticates the client. */
  readonly security: 'bearer' | 'client' | 'none';
  /**
   * The limit its requests count to; with `bearer` before anything else of the request is looked at. Reads count by what they
   * cost (read-limit.ts), where they are made.
   */
  readonly rateLimit?: 'writes' | 'tokens' | 'reads';
  /** Without it a body is not looked at. */
  readonly body?: { readonly type: 'json' | 'form'; readonly schema: Schema };
  readonly parameters?: readonly Parameter[];
  /** By status. What stands before the operation adds its own: 400, 401, 413, 415, 429, 431 and 500. */
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
  /** Name -> an operation that the answer leads to. */
  readonly links?: Readonly<Record<string, Link>>;
}

export interface Link {
  readonly operationId: string;
  readonly description: string;
  /** Name of its parameter -> where the value is: a runtime expression of OpenAPI. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export function refusal(description: string): Response {
  return { description, schema: ERROR };
}

export const WEBHOOK_NOT_FOUND = refusal('The account has no webhook with this id, or the account is not registered.');

/** Of the operations that add to an account's history. */
export const TOO_MUCH = refusal(
  'The account sent too many requests, or added too much to its history. Retry-After says when to try again.',
);

export const WEBHOOK_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the webhook, as GET /api/webhooks shows it.',
  schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
};
