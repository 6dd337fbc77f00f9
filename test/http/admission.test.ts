import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from 'koa';
import { Admission, type Admitted } from '../../src/http/admission.js';
import { requester } from '../../src/limits/user-limits.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { startBareApi } from '../support/scenes/bare-api.js';

let clock: number;
let admission: Admission;
beforeEach(() => {
  clock = 1_000_000.5;
  admission = new Admission({
    msPerMinute: 1_200,
    now: () => clock,
    unsent: { user: 100_000, owner: 100_000, process: 250_000 },
  });
});
afterEach(() => void jest.useRealTimers());

/** Makes an answer, which takes so long. */
function read(accountId: number, ms: number, answer = 'short'): string {
  return admission.timed(requester(accountId, 'a client'), () => {
    clock += ms;
    return answer;
  });
}

const enter = (accountId: number, user = 'a client') => admission.enter(requester(accountId, user));

/** `admitted`, or the status, the code and Retry-After. */
function outcome(entered: Promise<unknown>): Promise<string> {
  return entered.then(
    () => 'admitted',
    ({ status, problem, details }) => `${status} ${problem.code} ${details.headers['retry-after']}`,
  );
}

describe('the time that reads of an account take', () => {
  it('is a minute’s worth at once, and then none', async () => {
    read(1, 600);
    expect(await outcome(enter(1))).toBe('admitted');
    read(1, 10);
    expect(await outcome(enter(1))).toBe('429 reads-too-costly 1');
  });

  it('fills evenly, and Retry-After says when it is not overdrawn any more', async () => {
    read(1, 1_600);
    // 160 s are missing, of which a minute may be.
    expect(await outcome(enter(1))).toBe('429 reads-too-costly 100');
    clock += 99_000;
    expect(await outcome(enter(1))).toBe('429 reads-too-costly 1');
    clock += 1_000;
    expect(await outcome(enter(1))).toBe('admitted');
  });

  it('has the sending in it: a ms for 512 KiB', async () => {
    const long = 'x'.repeat(512 * 1024);
    for (let n = 0; n < 600; n += 1) read(1, 0, long);
    expect(await outcome(enter(1))).toBe('admitted');
    read(1, 0, long);
    expect(await outcome(enter(1))).toBe('429 reads-too-costly 1');
  });

  it('is an account’s own', async () => {
    read(1, 5_000);
    expect(await outcome(enter(2))).toBe('admitted');
  });

  it('has no limit where it is 0', async () => {
    admission = new Admission({ msPerMinute: 0, now: () => clock });
    read(1, 60_000);
    expect(await outcome(enter(1))).toBe('admitted');
  });
});

describe('a turn of the event loop', () => {
  it('is the account’s for one costly answer; its next ones wait for their own, and nobody else does', async () => {
    read(1, 1);
    const order: string[] = [];
    const waiting = [1, 2, 3].map(async (n) => {
      await admission.waitForSlice(requester(1, 'a client'));
      order.push(`read ${n}`);
      read(1, 1);
    });
    const others = (async () => {
      await admission.waitForSlice(requester(2, 'a client'));
      expect(order).toEqual([]);
      for (let n = 1; n <= 6; n += 1) {
        await nextTurn();
        order.push('another');
      }
    })();
    await Promise.all([...waiting, others]);
    expect(order.join()).toMatch(/read 1,(another,)+read 2,(another,)+read 3/);
  });

  it('that comes when nothing is left is refused, and the place is free again', async () => {
    read(1, 1);
    const waiting = [1, 2, 3, 4, 5].map(() => outcome(enter(1)));
    read(1, 5_000);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['429 reads-too-costly 440']));
  });
});

describe('places', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));

  const several = (count: number, accountId = 1, user?: string) =>
    Promise.all(Array.from({ length: count }, () => enter(accountId, user)));
  const isWaiting = async (entered: Promise<unknown>) => (await Promise.race([entered, nextTurn('waits')])) === 'waits';

  it('are 4 of a user and 16 of an account; another account has its own', async () => {
    for (const user of ['a', 'b', 'c']) await several(4, 1, user);
    const fifth = enter(1, 'a');
    expect(await isWaiting(fifth)).toBe(true);
    await several(4, 1, 'd');
    expect(await isWaiting(enter(1, 'e'))).toBe(true);
    await several(4, 2, 'a');
  });

  it('go to the first that waits and whose user has one left', async () => {
    const [first] = await several(4, 1, 'a');
    const [second] = (await Promise.all(['b', 'c', 'd'].map((user) => several(4, 1, user)))).flat();
    const waiting = { a: enter(1, 'a'), b: enter(1, 'b') };
    second?.leave();
    expect(await isWaiting(waiting.b)).toBe(false);
    expect(await isWaiting(waiting.a)).toBe(true);
    first?.leave();
    expect(await isWaiting(waiting.a)).toBe(false);
  });

  it('are waited for during 2 s, by 64 at most', async () => {
    await several(4);
    const waiting = Array.from({ length: 64 }, () => outcome(enter(1)));
    await nextTurn();
    expect(await outcome(enter(1))).toBe('429 too-many-waiting 2');
    jest.advanceTimersByTime(1_999);
    expect(await isWaiting(Promise.race(waiting))).toBe(true);
    jest.advanceTimersByTime(1);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['429 too-many-waiting 2']));
  });

  it('are kept by a long answer until it is taken, or for 2 s', async () => {
    const [taken, untaken, short] = (await several(4)) as [Admitted, Admitted, Admitted];
    const { close } = give(taken, 10_000);
    give(untaken, 10_000);
    give(short, 4_095);
    for (const place of [taken, untaken, short]) place.leave();
    expect(await isWaiting(enter(1))).toBe(false);
    const waiting = [enter(1), enter(1)] as const;
    expect(await isWaiting(waiting[0])).toBe(true);
    close();
    expect(await isWaiting(waiting[0])).toBe(false);
    jest.advanceTimersByTime(1_999);
    expect(await isWaiting(waiting[1])).toBe(true);
    jest.advanceTimersByTime(1);
    expect(await isWaiting(waiting[1])).toBe(false);
  });
});

/** Gives an answer that is not taken until its connection is closed. */
function give(place: Admitted, characters: number, letter = 'x', closed = false): { close: () => void } {
  const res = Object.assign(new EventEmitter(), { closed, destroyed: closed });
  place.send({ res } as unknown as Context, letter.repeat(characters));
  return { close: () => void res.emit('close') };
}

describe('long answers that nobody takes', () => {
  const NOT_TAKEN = expect.objectContaining({ status: 503, details: { headers: { 'retry-after': '1' } } });
  const send = async (accountId: number, ...answer: [characters: number, letter?: string, closed?: boolean]) => {
    users += 1;
    const place = await enter(accountId, `user ${users}`);
    return give(place, ...answer);
  };
  let users = 0;

  it('are no more than an account may have; another account has its own', async () => {
    await send(1, 60_000);
    await expect(send(1, 60_000)).rejects.toEqual(NOT_TAKEN);
    await send(2, 60_000);
  });

  it('are no more than a process may have', async () => {
    for (const account of [1, 2, 3]) await send(account, 80_000);
    await expect(send(4, 80_000)).rejects.toEqual(NOT_TAKEN);
  });

  it('count by their bytes, until they are taken', async () => {
    const first = await send(1, 50_000, 'ä');
    await expect(send(1, 5_000)).rejects.toEqual(NOT_TAKEN);
    first.close();
    await send(1, 100_000);
  });

  it('do not count where their connection is gone already, nor if they are short', async () => {
    await send(1, 100_000, 'x', true);
    await send(1, 100_000);
    await send(1, 4_095);
  });
});

describe('long answers that only a reserve admits', () => {
  const NOT_TAKEN = expect.objectContaining({ status: 503 });
  const MIB = 1024 * 1024;
  const all = { user: 8 * MIB, owner: 16 * MIB, process: 96 * MIB };
  beforeEach(() => {
    admission = new Admission({ msPerMinute: 0, now: () => clock, unsent: all });
  });

  const reserving = (accountId: number, user: string) => ({ ...requester(accountId, user), mayExceed: () => true });
  const send = async (accountId: number, user: string, characters = 30_000) =>
    give(await admission.enter(reserving(accountId, user)), characters);
  const fill = (accountId: number) => {
    for (const user of ['a', 'b']) admission.unsent.take(requester(accountId, user), all.user);
  };
  /** How many of the account’s sessions, each with as many answers as it gets. */
  const flood = async (accountId: number) => {
    let bytes = 0;
    for (let session = 0; session < 100; session += 1) {
      const sent = () =>
        send(accountId, `session ${session}`).then(
          () => true,
          () => false,
        );
      while (bytes < 20 * MIB && (await sent())) bytes += 30_000;
    }
    return bytes;
  };

  it('are 1 MiB at most of an account that has no room, whatever the number of its sessions', async () => {
    fill(1);
    const bytes = await flood(1);
    expect(bytes).toBeGreaterThan(MIB - 60_000);
    expect(bytes).toBeLessThanOrEqual(MIB);
  });

  it('are 64 KiB at most of a user, so that another user of the account has room', async () => {
    fill(1);
    await send(1, 'one');
    const second = await send(1, 'one');
    await expect(send(1, 'one')).rejects.toEqual(NOT_TAKEN);
    await send(1, 'another');
    second.close();
    await send(1, 'one');
  });

  it('leave other accounts their room in the process', async () => {
    for (const account of [1, 2, 3, 4, 5]) {
      fill(account);
      await flood(account);
    }
    const other = (user: string) => admission.unsent.take(requester(6, user), all.user);
    expect([other('a'), other('b')]).toEqual([true, true]);
  });

  it('are still sent to one account when others have filled the process', async () => {
    for (const account of [1, 2, 3, 4, 5, 6]) fill(account);
    await expect(admission.enter(requester(7, 'a')).then((place) => give(place, 30_000))).rejects.toEqual(NOT_TAKEN);
    await send(7, 'a');
  });

  it('are 8 MiB at most of a process', async () => {
    let bytes = 0;
    for (let account = 1; account <= 20; account += 1) {
      fill(account);
      if (account > 6) bytes += await flood(account);
    }
    expect(bytes).toBeLessThanOrEqual(8 * MIB);
  });
});

describe('of the API', () => {
  it('reads are 429 with Retry-After once they have cost too much; 401 comes before, writes go on, as do others', async () => {
    const bare = await startBareApi({ parts: { admission } });
    const get = (path: string, caller: string, method = 'GET') =>
      fetch(bare.url + path, { method, headers: { authorization: `Bearer ${caller}` } });
    try {
      admission.charge({ owner: 42, user: 'a caller' }, 1_200);
      for (const path of ['/api/webhooks', '/api/webhooks/1/deliveries']) {
        const refused = await get(path, 'caller-42');
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
        expect(await refused.json()).toMatchObject({ success: false, code: 'reads-too-costly' });
        expect((await get(path, 'nobody')).status).toBe(401);
        expect((await get(path, 'caller-43')).status).toBe(404);
      }
      expect((await get('/api/webhooks/1', 'caller-42', 'DELETE')).status).toBe(404);
    } finally {
      await bare.close();
    }
  });

  it('RATE_LIMIT_READS is its ms a minute; a short list that was made before is free', async () => {
    const api: RunningApi = await startApi({ RATE_LIMIT_READS: '1' });
    try {
      const client = await api.account(42);
      await client.post({ url: 'https://shop.example.com/', eventType: 'cash_in' });
      const { webhooks } = await client.list();
      let status = 200;
      for (let reads = 0; status === 200 && reads < 10_000; reads += 1) {
        ({ status } = await client.send('GET', `/api/webhooks/${webhooks[0]?.id}/deliveries`));
      }
      expect(status).toBe(429);
      expect((await client.send('GET', '/api/webhooks')).status).toBe(200);
      expect((await client.patch(webhooks[0]?.id ?? 0, { isActive: false })).status).toBe(200);
    } finally {
      await api.close();
    }
  });
});
