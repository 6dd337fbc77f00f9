import { EventEmitter } from 'node:events';
import type { Context } from 'koa';
import { UnsentAnswers } from '../../src/http/byte-limits.js';

let unsent: UnsentAnswers;
beforeEach(() => {
  unsent = new UnsentAnswers({ ownerBytes: 100_000, processBytes: 250_000 });
});

/** Gives an answer that stays unread until its connection is closed. */
function give(accountId: number, characters: number, closed = false): { close: () => void } {
  const res = Object.assign(new EventEmitter(), { closed, destroyed: closed });
  unsent.send({ res } as unknown as Context, accountId, 'x'.repeat(characters));
  return { close: () => void res.emit('close') };
}

const NOT_TAKEN = expect.objectContaining({ status: 503, details: { headers: { 'retry-after': '1' } } });

describe('long answers that nobody reads', () => {
  it('are no more than an account may have; another account has its own', () => {
    give(1, 60_000);
    expect(() => give(1, 60_000)).toThrow(NOT_TAKEN);
    give(2, 60_000);
  });

  it('are no more than a process may have', () => {
    for (const account of [1, 2, 3]) give(account, 80_000);
    expect(() => give(4, 80_000)).toThrow(NOT_TAKEN);
  });

  it('count until they are taken', () => {
    const first = give(1, 100_000);
    expect(() => give(1, 5_000)).toThrow(NOT_TAKEN);
    first.close();
    give(1, 100_000);
  });

  it('do not count where their connection is gone already', () => {
    give(1, 100_000, true);
    give(1, 100_000);
  });

  it('count by their bytes', () => {
    unsent.send({ res: new EventEmitter() } as unknown as Context, 1, 'ä'.repeat(50_000));
    expect(() => give(1, 5_000)).toThrow(NOT_TAKEN);
  });

  it('are not the short ones', () => {
    give(1, 100_000);
    for (let n = 0; n < 100; n += 1) give(1, 4_095);
  });
});
