import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { Context } from 'koa';
import { limitUnsent } from '../../src/http/unsent-answers.js';

type Answered = { readonly taken: () => void };

/** Asks with one limiter: an answer of so many bytes, that stays unread until it is taken. */
function asking(limits = { accountBytes: 100, processBytes: 250 }) {
  const limiter = limitUnsent(limits);
  return async (accountId: number, bytes: number, res = Object.assign(new EventEmitter(), { closed: false })) => {
    const ctx = { state: { caller: { accountId } }, res, length: undefined as number | undefined };
    const next = async () => {
      ctx.length = bytes;
    };
    await limiter(ctx as unknown as Context, next);
    return { taken: () => void res.emit('close') } satisfies Answered;
  };
}

const NOT_TAKEN = { status: 503, details: { headers: { 'retry-after': '1' } } };

describe('answers that nobody reads', () => {
  it('are no more than an account may have; another account has its own', async () => {
    const ask = asking();
    await ask(1, 60);
    await ask(1, 60);
    await expect(ask(1, 1)).rejects.toMatchObject(NOT_TAKEN);
    await ask(2, 60);
  });

  it('are no more than a process may have', async () => {
    const ask = asking();
    for (const account of [1, 2, 3]) await ask(account, 90);
    await expect(ask(4, 1)).rejects.toMatchObject(NOT_TAKEN);
  });

  it('count until they are taken', async () => {
    const ask = asking();
    const first = await ask(1, 100);
    await expect(ask(1, 1)).rejects.toMatchObject(NOT_TAKEN);
    first.taken();
    await ask(1, 100);
  });

  it('do not count where their connection is gone already', async () => {
    const ask = asking();
    await ask(1, 100, Object.assign(new EventEmitter(), { closed: true }));
    await ask(1, 100);
  });
});
