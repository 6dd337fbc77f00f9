import { StoreUnavailable } from '../../src/ports/event-store.js';
import { createHistoryBudget } from '../../src/webhooks/account-buckets.js';
import { accountStream } from '../../src/webhooks/events.js';
import { collect } from '../contract/contract.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { bound } from '../support/servers/bound-store.js';

const MEBIBYTE = 1024 ** 2;
const LARGE = Array.from({ length: 5 }, (_, index) => ({ key: `X-Large-${index}`, value: 'v'.repeat(4_000) }));
const webhook = { url: 'https://shop.example.com/', eventType: 'cash_in' };
let round = 0;
/** Another one each time: what changes nothing is not appended. */
const large = () => ({ ...webhook, headers: [{ key: 'X-Round', value: String(round++) }, ...LARGE.slice(1)] });

describe('an account that updates with large headers', () => {
  let clock = 0;
  let isAway = false;
  let bare: BareApi;

  beforeEach(async () => {
    clock = 0;
    isAway = false;
    bare = await startBareApi({
      budget: createHistoryBudget(MEBIBYTE, () => clock),
      between: (store) => ({
        ...bound(store),
        append: (...args) => (isAway ? Promise.reject(new StoreUnavailable('away')) : store.append(...args)),
      }),
    });
  });
  afterEach(() => bare.close());

  async function send(method: string, path: string, body?: unknown, headers = {}) {
    const all = { authorization: 'Bearer caller-42', 'content-type': 'application/json', ...headers };
    const response = await fetch(bare.url + path, {
      method,
      headers: all,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
  }

  const post = (body: unknown, headers = {}) => send('POST', '/api/webhooks', body, headers);
  const stored = () => collect(bare.store.read(accountStream(42)));
  const listed = async () => ((await send('GET', '/api/webhooks')).body as { webhooks: { id: number }[] }).webhooks;

  /** Until it is refused; the refusal. */
  async function exhaust() {
    for (;;) {
      const answer = await post(large());
      if (answer.status !== 200) return answer;
    }
  }

  it('is stopped at the budget, with Retry-After in the shape of every error', async () => {
    const refused = await exhaust();
    expect(refused).toMatchObject({
      status: 429,
      body: { success: false, message: expect.stringMatching(/history/), code: expect.any(String) },
    });
    const bytes = (await stored()).slice(1).reduce((sum, { data, metadata }) => {
      return sum + JSON.stringify(data).length + JSON.stringify(metadata).length;
    }, 0);
    expect(bytes).toBeLessThanOrEqual(MEBIBYTE);
    expect(bytes).toBeGreaterThan(MEBIBYTE - 30_000);
    const before = (await stored()).length;
    await post(large());
    expect(await stored()).toHaveLength(before);
  });

  it('may go on after Retry-After, and not before', async () => {
    const seconds = Number((await exhaust()).headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(1);
    // A quarter of the budget an hour.
    expect(seconds).toBeLessThanOrEqual((30_000 / (MEBIBYTE / 4)) * 3_600);
    clock += (seconds - 2) * 1_000;
    expect((await post(large())).status).toBe(429);
    clock += 2_000;
    expect((await post(large())).status).toBe(200);
  });

  it('may still switch off and remove what it has; to switch on again is refused', async () => {
    await post({ ...webhook, url: 'https://shop.example.com/other' });
    await exhaust();
    const [first, second] = await listed();
    // What is more than switching off costs like a registration.
    const off = { isActive: false, headers: large().headers };
    expect((await send('PATCH', `/api/webhooks/${first?.id}`, off)).status).toBe(429);
    // Small commands go on for a while: what is left of the budget is less than a large one.
    for (let answered = 200; answered === 200; ) {
      expect((await send('PATCH', `/api/webhooks/${first?.id}`, { isActive: false })).status).toBe(200);
      answered = (await send('PATCH', `/api/webhooks/${first?.id}`, { isActive: true })).status;
      expect([200, 429]).toContain(answered);
    }
    expect((await send('PATCH', `/api/webhooks/${second?.id}`, { isActive: false })).status).toBe(200);
    expect((await send('DELETE', `/api/webhooks/${first?.id}`)).status).toBe(200);
    expect((await send('DELETE', `/api/webhooks/${second?.id}`)).status).toBe(200);
    expect(await listed()).toEqual([]);
  });

  it('a registration that changes nothing costs nothing; with a key it does', async () => {
    await post(webhook);
    const before = (await stored()).length;
    for (let times = 0; times < 20; times += 1) expect((await post(webhook)).status).toBe(200);
    expect(await stored()).toHaveLength(before);
    await exhaust();
    let keyed = 200;
    const same = { ...webhook, url: 'https://shop.example.com/same' };
    for (let key = 0; keyed === 200; key += 1) {
      keyed = (await post(same, { 'idempotency-key': `key-${key}` })).status;
      if (key > 5_000) throw new Error('keys are not charged');
    }
    expect(keyed).toBe(429);
    expect((await stored()).at(-1)?.type).toBe('IdempotencyKeyUsed');
    // The answer to an earlier request appends nothing.
    const again = await post(same, { 'idempotency-key': 'key-0' });
    expect({ status: again.status, replayed: again.headers.get('idempotent-replayed') }).toEqual({
      status: 200,
      replayed: 'true',
    });
    expect((await post(same)).status).toBe(200);
  });

  it('what the store did not take costs nothing', async () => {
    await post(webhook);
    isAway = true;
    for (let times = 0; times < 100; times += 1) expect((await post(large())).status).toBe(503);
    isAway = false;
    expect((await post(large())).status).toBe(200);
  });
});

describe('of the settings', () => {
  let api: RunningApi | undefined;

  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  it('HISTORY_BUDGET stops one account and no other', async () => {
    api = await startApi({ HISTORY_BUDGET: '1MiB' });
    const [client, other] = [await api.account(42), await api.account(43)];
    let status = 200;
    while (status === 200) ({ status } = await client.post(large()));
    expect(status).toBe(429);
    expect((await other.post(large())).status).toBe(200);
    expect((await client.list()).total).toBe(1);
    // The operator is not limited.
    await api.registration.issueCredential(42, { actor: 'test', requestId: 'r', correlationId: 'c' });
  });

  it('0 is no limit', async () => {
    api = await startApi({ HISTORY_BUDGET: '0' });
    const client = await api.account(42);
    for (let times = 0; times < 60; times += 1) expect((await client.post(large())).status).toBe(200);
  });
});
