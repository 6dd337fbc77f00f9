/**
 * Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): the first success under a key is kept for 24 h, and
 * answers whoever sends the same request under it again. Refusals and failures are not kept.
 */
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import type { IdempotencyKeys, Performed, Prepared } from '../idempotency/idempotency-keys.js';
import type { Accounts } from '../read-model/accounts.js';
import { ApiError, badRequest, fieldError } from './api-error.js';
import type { Parameter, Response } from './operation.js';
import { refusal } from './operation.js';

const NAME = 'Idempotency-Key';
const REPLAYED = 'Idempotent-Replayed';
/** 1 to 255 visible ASCII characters: bare, or as a string of RFC 8941, which is how the draft writes it. */
const KEY = /^(?:([!#-~][!-~]{0,254})|"((?:[!#-[\]-~]|\\["\\]){1,255})")$/;

export const IDEMPOTENCY_KEY: Parameter = {
  name: NAME,
  in: 'header',
  description:
    'A key of your choice, 1 to 255 visible ASCII characters, bare or as a quoted string. For 24 hours after a success, the same request with the same key gets the same answer and changes nothing.',
  schema: { type: 'string', pattern: KEY.source },
};

export const REPLAYED_HEADER = { [REPLAYED]: '`true` if this is the answer to an earlier request with the same key.' };

export const KEY_TAKEN: Response = refusal(`The ${NAME} was used for another request in the last 24 hours.`);

/**
 * Answers the request: with what it comes to (the message of a 200), or what it came to under this key before.
 * @param content what makes two requests the same one
 * @param prepare what can refuse it without a write: then nothing is written for the key either
 */
export type AnswerOnce = (ctx: Context, content: unknown, prepare: () => Promise<Perform>) => Promise<void>;

export type Perform = () => Promise<string>;

export function answerOnce(keys: IdempotencyKeys, accounts: Accounts): AnswerOnce {
  return async (ctx, content, prepare) => {
    const key = keyOf(ctx);
    const { accountId } = ctx.state.caller as Caller;
    // An account nobody registered gets its 404, and no place in the store.
    if (key === null || !(await accounts.webhooks(accountId))) return answer(ctx, 200, await (await prepare())());
    const use = { accountId, key, content: JSON.stringify(content) };
    const outcome = await keys.once(use, () => prepared(prepare));
    switch (outcome.kind) {
      case 'done':
        return answer(ctx, outcome.answer.status, outcome.answer.message);
      case 'replayed':
        ctx.set(REPLAYED, 'true');
        return answer(ctx, outcome.answer.status, outcome.answer.message);
      case 'refused':
        throw outcome.why;
      case 'other-request':
        throw keyTaken();
      default:
        return outcome satisfies never;
    }
  };
}

function answer(ctx: Context, status: number, message: string): void {
  ctx.status = status;
  ctx.body = { success: true, message };
}

async function prepared(prepare: () => Promise<Perform>): Promise<Prepared<ApiError>> {
  try {
    const perform = await prepare();
    return { kind: 'ready', perform: () => performed(perform) };
  } catch (error) {
    return refusedBy(error);
  }
}

async function performed(perform: Perform): Promise<Performed<ApiError>> {
  try {
    return { kind: 'done', answer: { status: 200, message: await perform() } };
  } catch (error) {
    return refusedBy(error);
  }
}

/** @throws the error, where it is no refusal */
function refusedBy(error: unknown): { kind: 'refused'; why: ApiError } {
  if (error instanceof ApiError && error.status < 500) return { kind: 'refused', why: error };
  throw error;
}

/** Null where none is given. Several are one that is no good: Node joins them with a space between. */
function keyOf(ctx: Context): string | null {
  const given = ctx.headers['idempotency-key'];
  if (given === undefined) return null;
  const [, bare, quoted] = KEY.exec(String(given)) ?? [];
  const key = bare ?? quoted?.replace(/\\(.)/g, '$1');
  if (key !== undefined) return key;
  throw badRequest([fieldError(NAME, 'must be 1 to 255 visible ASCII characters, bare or as a quoted string')]);
}

function keyTaken(): ApiError {
  const errors = [fieldError(NAME, 'was used for another request less than 24 h ago')];
  return new ApiError(422, errors.map(({ message }) => message).join(' '), { errors });
}
