/** What commands cost of the budget; the budget itself: test/webhooks/history-budget.test.ts. */
import { StoreUnavailable } from '../../src/ports/event-store.js';
import { bytesOf, createHistoryBudget } from '../../src/webhooks/account-buckets.js';
import { accountStream } from '../../src/webhooks/events.js';
import { collect } from '../contract/contract.js';
import type { Client } from '../support/clients/api-client.js';
import { startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { bound } from '../support/servers/bound-store.js';

const MEBIBYTE = 1024 ** 2;
const LARGE = Array.from({ length: 5 }, (_, index) => ({ key: `X-Large-${index}`, value: 'v'.repeat(4_000) }));
const webhook = { url: 'https://shop.example.com/', eventType: 'cash_in' };
let round = 0;
/** Another one each time: what changes nothing is not appended. */
const large = () => ({ ...webhook, headers: [{ key: 'X-Round', value: String(round++) }, ...LARGE.slice(1)] });

describe('an account that updates with large headers', () => {
  let clock: number;
  let isAway: boolean;
  let bare: BareApi;
  let client: Client;

  beforeEach(async () => {
    [clock, isAway] = [0, false];
    bare = await startBareApi({
      budget: createHistoryBudget(2 * MEBIBYTE, () => clock),
      parts: { verifyToken: async (actor) => ({ kind: 'verified', caller: { accountId: 42, actor, clientId: null } }) },
      between: (store) => ({
        ...bound(store),
        append: (...args) => (isAway ? Promise.reject(new StoreUnavailable('away')) : store.append(...args)),
      }),
    });
    client = bare.client();
  });
  afterEach(() => bare.close());

  const stored = () => collect(bare.store.read(accountStream(42)));
  const switched = async (id: number, isActive: boolean) => (await client.patch(id, { isActive })).status;

  /** Until it is refused; the refusal. */
  async function exhaust(by = client) {
    for (;;) {
      const answer = await by.post(large());
      if (answer.status !== 200) return answer;
    }
  }

  it('is stopped at the budget, and may go on after Retry-After, not before', async () => {
    const refused = await exhaust();
    expect(refused).toMatchObject({ status: 429, body: { code: 'over-budget' } });
    const bytes = (await stored()).slice(1).reduce((sum, { data, metadata }) => {
      return sum + JSON.stringify(data).length + JSON.stringify(metadata).length;
    }, 0);
    expect(bytes).toBeLessThanOrEqual(MEBIBYTE);
    expect(bytes).toBeGreaterThan(MEBIBYTE - 30_000);
    const seconds = Number(refused.headers.get('retry-after'));
    clock += (seconds - 2) * 1_000;
    expect((await client.post(large())).status).toBe(429);
    clock += 2_000;
    expect((await client.post(large())).status).toBe(200);
  });

  it('may still switch off and remove what it has; to switch on again is refused', async () => {
    await client.post({ ...webhook, url: 'https://shop.example.com/other' });
    await exhaust();
    const [first = 0, second = 0] = (await client.list()).webhooks.map(({ id }) => id);
    // What is more than switching off costs like a registration.
    expect((await client.patch(first, { isActive: false, headers: large().headers })).status).toBe(429);
    // Small commands go on for a while: what is left of the budget is less than a large one.
    for (let answered = 200; answered === 200; ) {
      expect(await switched(first, false)).toBe(200);
      answered = await switched(first, true);
      expect([200, 429]).toContain(answered);
    }
    expect(await switched(second, false)).toBe(200);
    for (const id of [first, second]) expect((await client.remove(id)).status).toBe(200);
    expect((await client.list()).total).toBe(0);
  });

  it('rotates signing secrets beyond it, within 64 KiB, and may still remove then', async () => {
    for (const by of [client, bare.as('another')]) await exhaust(by);
    const before = await stored();
    const rotate = (user: string) =>
      bare.as(user).send('POST', '/api/signing-secrets', { json: { revokePrevious: true } });
    const statuses = [];
    for (let user = 0; user < 5; user += 1)
      for (let n = 0; n < 60; n += 1) statuses.push((await rotate(`user-${user}`)).status);
    expect(new Set(statuses)).toEqual(new Set([201, 429]));
    const added = bytesOf((await stored()).slice(before.length));
    // What was left of the budget counts as well: less than one large command.
    expect(added).toBeLessThan(64 * 1024 + 30_000);
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(60);
    const [{ id = 0 } = {}] = (await client.list()).webhooks;
    expect(await switched(id, false)).toBe(200);
    expect((await client.remove(id)).status).toBe(200);
  });

  it('a registration that changes nothing costs nothing; with a key it does', async () => {
    const same = { ...webhook, url: 'https://shop.example.com/same' };
    await client.post(same);
    await exhaust();
    let keyed = 200;
    for (let key = 0; keyed === 200 && key < 5_000; key += 1)
      keyed = (await client.post(same, { 'idempotency-key': `key-${key}` })).status;
    expect(keyed).toBe(429);
    expect((await stored()).at(-1)?.type).toBe('IdempotencyKeyUsed');
    // The answer to an earlier request appends nothing.
    expect((await client.post(same, { 'idempotency-key': 'key-0' })).headers.get('idempotent-replayed')).toBe('true');
    expect((await client.post(same)).status).toBe(200);
  });

  it('what the store did not take costs nothing', async () => {
    // It reserves ids, without which nothing would be charged.
    await client.post(large());
    isAway = true;
    for (let times = 0; times < 100; times += 1) expect((await client.post(large())).status).toBe(503);
    isAway = false;
    expect((await client.post(large())).status).toBe(200);
  });
});

it('HISTORY_BUDGET stops one account, no other, and not the operator', async () => {
  const api = await startApi({ HISTORY_BUDGET: '1MiB' });
  try {
    const [client, other] = [await api.account(42), await api.account(43)];
    let status = 200;
    while (status === 200) ({ status } = await client.post(large()));
    expect(status).toBe(429);
    expect((await other.post(large())).status).toBe(200);
    await api.registration.issueCredential(42, { actor: 'test', requestId: 'r', correlationId: 'c' });
  } finally {
    await api.close();
  }
});
