/** The external description of an operation. Its route and middleware, and /openapi.json, are made from it. */
import type { Context } from 'koa';
import type { Right } from '../webhooks/limits.js';
import { ERROR } from './shared-schemas.js';

/** JSON Schema 2020-12, as in OpenAPI 3.1. One with a title becomes a component: in clients the name of its type. */
export type Schema = Readonly<Record<string, unknown>>;

export type Tag =
  | 'Webhooks'
  | 'Deliveries'
  | 'History'
  | 'Signing secrets'
  | 'Sessions'
  | 'Notices'
  | 'Authentication'
  | 'Documents'
  | 'Publishing'
  | 'Payment events';

export interface Operation {
  /** The operation's name in generated clients. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With parameters in braces: /api/webhooks/{id}. */
  readonly path: string;
  readonly tag: Tag;
  /** A line for a table of contents, without a full stop. */
  readonly summary: string;
  /** Sentences: the operation's effect, and what a caller must know. */
  readonly description: string;
  /**
   * bearer: an account's token, or the cookie of a session; session: the cookie only; publisher: a publisher's token; 401
   * or 403 before anything else. client: the operation itself authenticates the client.
   */
  readonly security: 'bearer' | 'session' | 'publisher' | 'client' | 'none';
  /** With `bearer`: the right that a session needs. If absent, `read`. */
  readonly right?: Right;
  /** What its requests count towards; with `bearer`, before the rest is read. Reads by cost, when made (rate-limit). */
  readonly rateLimit?: 'writes' | 'tests' | 'tokens' | 'reads';
  /** If absent, a body is ignored. */
  readonly body?:
    | { readonly type: 'json' | 'form'; readonly schema: Schema; readonly isOptional?: boolean }
    /** By media type. The operation reads the body itself. */
    | { readonly type: 'own'; readonly content: Readonly<Record<string, Schema>> };
  readonly parameters?: readonly Parameter[];
  /** By status. The middleware adds its own: 400, 401, 413, 415, 429, 431 and 500. */
  readonly responses: Readonly<Record<number, Response>>;
}

export interface Route extends Operation {
  readonly handle: (ctx: Context) => Promise<void> | void;
}

export function route(operation: Operation, handle: Route['handle']): Route {
  return { ...operation, handle };
}

export const READ = { method: 'get', security: 'bearer', rateLimit: 'reads' } as const;

export const WRITE = { security: 'bearer', rateLimit: 'writes' } as const;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

export interface Response {
  readonly description: string;
  /** Absent: no body. */
  readonly schema?: Schema;
  /** Name -> description. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Name -> an operation to continue with. */
  readonly links?: Readonly<Record<string, Link>>;
}

export interface Link {
  readonly operationId: string;
  readonly description: string;
  /** Name of its parameter -> location of the value: a runtime expression of OpenAPI. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export function refusal(description: string): Response {
  return { description, schema: ERROR };
}

export const WEBHOOK_NOT_FOUND = refusal('The account has no webhook with this id, or the account is not registered.');

/** For operations that add to an account's history. */
export const TOO_MUCH = refusal(
  'The account sent too many requests, or added too much to its history. Retry-After says when to try again.',
);

/** The `{id}` of a path. */
export function pathId(description: string, schema: Schema = { type: 'string' }): Parameter {
  return { name: 'id', in: 'path', required: true, description, schema };
}

const ID = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
export const WEBHOOK_ID = pathId('The id of the webhook, as GET /api/webhooks shows it.', ID);
