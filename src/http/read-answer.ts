/**
 * Answers reads of an account, as they are admitted (admission.ts). Some have an entity tag, for clients that ask for a list
 * again and again (RFC 9110, section 8.8.3 and 13.1.2).
 */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Requester } from '../limits/user-limits.js';
import type { AccountView, AskView } from '../ports/deliveries-view.js';
import type { Admitted } from './admission.js';
import { ApiError, retryAfter } from './api-error.js';
import type { ApiParts } from './api-parts.js';
import { type Asked, type Operation, route } from './operation.js';
import { type AskedQuery, parseQuery, type Query, readQuery } from './query.js';
import { callerOf } from './request-context.js';

export const READ = { method: 'get', security: 'bearer', rateLimit: 'reads' } as const;

interface AskedToRead<O> extends Omit<Asked<O>, 'body'> {
  readonly query: O extends { readonly query: infer Q extends Query } ? AskedQuery<Q> : undefined;
  readonly place: Admitted;
  readonly requester: Requester;
}

/** Of what an account has: its cost is charged. */
export function read<const O extends Omit<Operation, keyof typeof READ>>(given: O) {
  const described = { ...given, ...READ };
  return {
    answer: (find: (parts: ApiParts, asked: AskedToRead<O>) => Promise<() => unknown>) => (parts: ApiParts) =>
      route(described, (ctx) =>
        parts.admission.during(ctx, async (place, requester) => {
          const { accountId } = callerOf(ctx);
          const query = (given.query && readQuery(given.query, parseQuery(ctx))) as AskedToRead<O>['query'];
          const make = await find(parts, { ctx, accountId, query, place, requester });
          const body = parts.admission.timed(requester, () => JSON.stringify(make()));
          if (given.isTagged) sendTagged(ctx, body, place);
          else place.send(ctx, body);
        }),
      ),
  };
}

/** What the view answers. Without a view nothing is known: an empty answer would read as the end of a list. @throws ApiError 503 */
export async function viewAnswer<T>(
  view: AskView,
  { owner, user }: Pick<Requester, 'owner' | 'user'>,
  question: (view: AccountView) => Promise<T>,
): Promise<T> {
  const answer = await view.ask(Number(owner), async (sound) => ({ is: await question(sound) }), user);
  if (answer) return answer.is;
  throw notReadable();
}

export function notReadable(): ApiError {
  return new ApiError({ code: 'deliveries-unreadable' }, retryAfter(1_000));
}

/** The tag comes last: a response that cannot be sent has none. @throws ApiError 503 */
function sendTagged(ctx: Context, body: string, place: Admitted): void {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  if (matches(ctx.get('if-none-match'), etag)) ctx.status = 304;
  else place.send(ctx, body);
  ctx.set('etag', etag);
}

/** Holds about 20 tags. */
const MAX_TAGS_CHARACTERS = 1_024;

/**
 * Weakly, as a proxy that compresses makes an entity tag weak. Not Koa's `fresh`: a fetch with If-None-Match also sends
 * `Cache-Control: no-cache`, which to that is never fresh.
 */
function matches(given: string, etag: string): boolean {
  const tags = given.slice(0, MAX_TAGS_CHARACTERS).split(',');
  return tags.some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
