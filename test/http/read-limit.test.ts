import { setImmediate as nextTurn } from 'node:timers/promises';
import { ReadLimit } from '../../src/http/rate-limit.js';
import { type RunningApi, startApi } from '../support/api-fixture.js';
import { startBareApi } from '../support/bare-api.js';

let clock: number;
let limit: ReadLimit;
beforeEach(() => {
  clock = 1_000_000.5;
  limit = new ReadLimit({ msPerMinute: 600, now: () => clock });
});

/** An answer that takes so long to make. */
function read(accountId: number, ms: number, answer = 'short'): string {
  return limit.counted(accountId, () => {
    clock += ms;
    return answer;
  });
}

async function status(accountId: number): Promise<string> {
  try {
    await limit.turn(accountId);
    return 'taken';
  } catch (error) {
    const { status, details } = error as { status: number; details: { headers: Record<string, string> } };
    return `${status} ${details.headers['retry-after']}`;
  }
}

describe('the time that reads of an account take', () => {
  it('is a minute’s worth at once, and then none', async () => {
    read(1, 600);
    expect(await status(1)).toBe('taken');
    read(1, 10);
    expect(await status(1)).toBe('429 1');
  });

  it('fills evenly, and Retry-After says when it is not empty any more', async () => {
    read(1, 1_600);
    // 160 s are missing, of which a minute may be.
    expect(await status(1)).toBe('429 100');
    clock += 99_000;
    expect(await status(1)).toBe('429 1');
    clock += 1_000;
    expect(await status(1)).toBe('taken');
  });

  it('has the sending in it: a ms for 512 KiB', async () => {
    const long = 'x'.repeat(512 * 1024);
    for (let n = 0; n < 600; n += 1) read(1, 0, long);
    expect(await status(1)).toBe('taken');
    read(1, 0, long);
    expect(await status(1)).toBe('429 1');
  });

  it('is an account’s own', async () => {
    read(1, 5_000);
    expect(await status(2)).toBe('taken');
  });

  it('has no limit where it is 0', async () => {
    limit = new ReadLimit({ msPerMinute: 0, now: () => clock });
    read(1, 60_000);
    expect(await status(1)).toBe('taken');
  });
});

describe('a turn of the event loop', () => {
  it('is the account’s for one costly answer; the next one waits for another turn, and nobody else does', async () => {
    expect(limit.turn(1)).toBeUndefined();
    read(1, 1);
    const order: string[] = [];
    const waiting = [1, 2, 3].map((n) =>
      limit.turn(1)?.then(() => {
        order.push(`read ${n}`);
        read(1, 1);
      }),
    );
    expect(limit.turn(2)).toBeUndefined();
    const others = (async () => {
      for (let n = 1; n <= 6; n += 1) {
        await nextTurn();
        order.push('another');
      }
    })();
    await Promise.all([...waiting, others]);
    expect(order.join()).toMatch(/read 1,(another,)+read 2,(another,)+read 3/);
    await nextTurn();
    expect(limit.turn(1)).toBeUndefined();
  });

  it('is not ended by a cheap answer', () => {
    read(1, 0.1);
    expect(limit.turn(1)).toBeUndefined();
  });

  it('that comes when nothing is left is refused', async () => {
    read(1, 1);
    const waiting = status(1);
    read(1, 5_000);
    expect(await waiting).toMatch(/^429 /);
  });
});

describe('of the API', () => {
  let api: RunningApi | undefined;
  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  it('reads are 429 with Retry-After once they have cost too much; 401 comes before, writes go on, as do others', async () => {
    const reads = new ReadLimit({ msPerMinute: 600, now: () => clock });
    const unlimited = { take: () => ({ allowed: true, headers: {} }) };
    const bare = await startBareApi({
      parts: { rateLimits: { writes: unlimited, tests: unlimited, tokens: unlimited, reads } },
    });
    const get = (path: string, caller: string, method = 'GET') =>
      fetch(bare.url + path, { method, headers: { authorization: `Bearer ${caller}` } });
    try {
      expect((await get('/api/webhooks', 'caller-42')).status).toBe(200);
      reads.counted(42, () => {
        clock += 1_200;
        return '';
      });
      for (const path of ['/api/webhooks', '/api/webhooks/1/deliveries']) {
        const refused = await get(path, 'caller-42');
        expect(refused.status).toBe(429);
        expect(refused.headers.get('retry-after')).toBe('60');
        expect(await refused.json()).toEqual({
          success: false,
          message: expect.stringContaining('Retry-After'),
          code: expect.any(String),
        });
        expect((await get(path, 'nobody')).status).toBe(401);
        expect((await get(path, 'caller-43')).status).toBe(404);
      }
      expect((await get('/api/webhooks/1', 'caller-42', 'DELETE')).status).toBe(404);
    } finally {
      await bare.close();
    }
  });

  it('RATE_LIMIT_READS is its ms a minute; the 429 is documented', async () => {
    api = await startApi({ RATE_LIMIT_READS: '1' });
    const client = await api.account(42);
    await client.post({ url: 'https://shop.example.com/', eventType: 'cash_in' });
    const { webhooks } = await client.list();
    let status = 200;
    for (let reads = 0; status === 200 && reads < 10_000; reads += 1) {
      ({ status } = await client.send('GET', `/api/webhooks/${webhooks[0]?.id}/deliveries`));
    }
    expect(status).toBe(429);
    expect((await client.send('GET', '/api/webhooks')).status).toBe(429);
    expect((await client.patch(webhooks[0]?.id ?? 0, { isActive: false })).status).toBe(200);
  });
});
