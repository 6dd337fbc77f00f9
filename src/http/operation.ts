/** The external description of an operation. Its route and middleware, and /openapi.json, are made from it. */
import type { Context } from 'koa';
import { ReservingRequester } from '../limits/reserve.js';
import type { Schema, Static } from '../schema.js';
import type { CommandContext } from '../webhooks/envelope.js';
import type { Right } from '../webhooks/limits.js';
import { assertWithin } from './api-error.js';
import type { ApiParts } from './api-parts.js';
import { jsonReader } from './body.js';
import type { Query } from './query.js';
import { callerOf, commandContext, isLong, requesterOf } from './request-context.js';

export interface Operation {
  /** The operation's name in generated clients; its words are its summary. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `{id}` in it is that of the resource before it: /api/webhooks/{id}. */
  readonly path: string;
  /** Sentences: the operation's effect, and what a caller must know. */
  readonly description: string;
  /**
   * bearer: an account's token, or the cookie of a session; token, session: one of them only; publisher: a publisher's
   * token; 401 or 403 before anything else. client: the operation itself authenticates the client.
   */
  readonly security: 'bearer' | 'token' | 'session' | 'publisher' | 'client' | 'none';
  /** With `bearer`: the right that a session needs. If absent, `read`. */
  readonly right?: Right;
  /** What its requests count towards; with `bearer`, before the rest is read. Reads are charged their cost, by admission.ts. */
  readonly rateLimit?: 'writes' | 'tests' | 'tokens' | 'reads';
  /**
   * Whether its requests, or those with such a body, may draw on the reserve of their user (limits/reserve.ts): they remove or
   * revoke something, or list what can be revoked.
   */
  readonly usesReserve?: true | ((body: never) => boolean);
  /** With `bearer`: false if the account need not be registered. */
  readonly needsAccount?: boolean;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, Schema>>;
  /**
   * About how many bytes its response to such a body has at most. If absent, the response is short. A long one counts as unread
   * (admission.ts) from before the command on: once a command is executed, its response must not be an error.
   */
  readonly maxResponseBytes?: (body: never) => number;
  /** If absent, a body is ignored. */
  readonly body?:
    | { readonly type: 'json' | 'form'; readonly schema: Schema; readonly isOptional?: boolean }
    /** By media type. The operation reads the body itself. */
    | { readonly type: 'own'; readonly content: Readonly<Record<string, Schema>> };
  /** What it answers. */
  readonly returns: Schema;
  /** If absent, 200. */
  readonly status?: 201 | 202;
  /** When a command with another status responds 200, because there is nothing to do. */
  readonly unchanged?: string;
  /** The headers of the answer: name -> description. */
  readonly sets?: Readonly<Record<string, string>>;
  /** Its answer has an entity tag, for clients that ask again and again. */
  readonly isTagged?: true;
  /** By status: when it refuses. Refusals of its kind are added: 400, 401, 403, 404, 413, 415, 429, 431, 500 and 503. */
  readonly refusals?: Readonly<Record<number, string>>;
  /** What it answers then, if not `Error`. */
  readonly refusal?: Schema;
}

export type Route<O extends Operation = Operation> = O & { readonly handle: (ctx: Context) => Promise<void> | void };

export function route<O extends Operation>(operation: O, handle: Route['handle']): Route<O> {
  return { ...operation, handle };
}

const WRITE: Pick<Operation, 'security' | 'rateLimit' | 'right'> = {
  security: 'bearer',
  rateLimit: 'writes',
  right: 'configure',
};

export function operation<const O extends Operation>(given: O): O {
  return given;
}

/** What a request asks of an operation, checked as that describes it. */
export interface Asked<O> {
  readonly ctx: Context;
  readonly accountId: number;
  readonly body: O extends { readonly body: { readonly schema: infer S } } ? Static<S> : undefined;
}

/** A command, as of the time `at` (ISO 8601). */
export interface Commanded<O = unknown> extends Asked<O> {
  readonly context: CommandContext;
  readonly at: string;
}

/** Its body removes nothing. @throws ApiError 429 if only the reserve has let it in */
function forgoReserve(ctx: Context, { rateLimits }: ApiParts): void {
  const requester = requesterOf(ctx);
  if (requester instanceof ReservingRequester && requester.forgo()) assertWithin(rateLimits.writes, requester);
}

/** @throws ApiError 503 if too many long responses are not read */
function holdResponse(ctx: Context, { admission }: ApiParts, bytes: number): void {
  if (isLong(bytes)) admission.hold(ctx, requesterOf(ctx), bytes);
}

/** A command of an account. */
export function write<const O extends Omit<Operation, 'security'>>(given: O) {
  const described = { ...WRITE, ...given };
  const { body: taken, status = 200, maxResponseBytes } = given;
  const readBody =
    taken?.type === 'json' ? jsonReader(taken.schema, { isOptional: taken.isOptional }) : async () => undefined;
  return {
    answer: (handle: (parts: ApiParts, asked: Commanded<O>) => Promise<object>) => (parts: ApiParts) =>
      route(described, async (ctx) => {
        const { accountId, actor } = callerOf(ctx);
        const body = (await readBody(ctx)) as Commanded<O>['body'];
        if (typeof given.usesReserve === 'function' && !given.usesReserve(body as never)) forgoReserve(ctx, parts);
        if (maxResponseBytes) holdResponse(ctx, parts, maxResponseBytes(body as never));
        const at = parts.now().toISOString();
        // Before it: the command may be one that has nothing to do.
        ctx.status = status;
        ctx.body = await handle(parts, { ctx, accountId, body, context: commandContext(ctx, actor), at });
      }),
  };
}
