/** The external description of an operation. Its route and middleware, and /openapi.json, are made from it. */
import type { Context } from 'koa';
import type { Right } from '../webhooks/limits.js';
import type { Query } from './query.js';
import { id, type Schema } from './schema.js';
import { ERROR } from './shared-schemas.js';

export interface Operation {
  /** The operation's name in generated clients. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With parameters in braces: /api/webhooks/{id}. */
  readonly path: string;
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
  /** With `bearer`: no session may, whatever its rights. */
  readonly by?: 'token';
  /** What its requests count towards; with `bearer`, before the rest is read. Reads by cost, when made (rate-limit). */
  readonly rateLimit?: 'writes' | 'tests' | 'tokens' | 'reads';
  /** With `bearer`: false if the account need not be registered. */
  readonly needsAccount?: boolean;
  /** The `{id}` of the path. */
  readonly pathId?: Schema;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, Schema>>;
  /** If absent, a body is ignored. */
  readonly body?:
    | { readonly type: 'json' | 'form'; readonly schema: Schema; readonly isOptional?: boolean }
    /** By media type. The operation reads the body itself. */
    | { readonly type: 'own'; readonly content: Readonly<Record<string, Schema>> };
  /**
   * By status: the schema of what it answers, or when it refuses. Refusals of its kind are added: 400, 401, 403, 404, 413,
   * 415, 429, 431, 500 and 503.
   */
  readonly responses: Readonly<Record<number, Schema | Response | string>>;
}

export type Route<O extends Operation = Operation> = O & { readonly handle: (ctx: Context) => Promise<void> | void };

export function route<O extends Operation>(operation: O, handle: Route['handle']): Route<O> {
  return { ...operation, handle };
}

const READ = { method: 'get', security: 'bearer', rateLimit: 'reads' } as const;
const WRITE = { security: 'bearer', rateLimit: 'writes' } as const;

export function operation<const O extends Operation>(given: O): O {
  return given;
}

/** Of what an account has: answered by readRoute, which charges its cost. */
export function read<const O extends Omit<Operation, keyof typeof READ>>(operation: O): O & typeof READ {
  return { ...operation, ...READ };
}

/** A command of an account. */
export function write<const O extends Omit<Operation, keyof typeof WRITE>>(operation: O): O & typeof WRITE {
  return { ...operation, ...WRITE };
}

export interface Response {
  readonly description: string;
  /** Absent: no body. */
  readonly schema?: Schema;
  /** Name -> description. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The schema tells of the response, unless that is described. */
export function responseOf(given: Schema | Response | string): Response {
  if (typeof given === 'string') return { description: given, schema: ERROR };
  return isResponse(given) ? given : { description: String(given.description), schema: given };
}

function isResponse(given: Schema | Response): given is Response {
  return 'schema' in given || 'headers' in given;
}

export const WEBHOOK_ID = id('The id of the webhook, as GET /api/webhooks shows it.');
