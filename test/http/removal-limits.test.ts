/**
 * Whoever exhausts the limits of an account cannot stop its other users from removing and revoking: each limit, exhausted by
 * each kind of caller that can, while another user removes, revokes, cancels, and lists what can be revoked.
 */
import { createCancelDelivery } from '../../src/delivery/again/send-again.js';
import { Admission } from '../../src/http/admission.js';
import { Reserve } from '../../src/limits/reserve.js';
import type { Requester } from '../../src/limits/user-limits.js';
import { createRateLimit, type RateLimit } from '../../src/limits/user-limits.js';
import type { AskView } from '../../src/ports/deliveries-view.js';
import { createHistoryBudget, createRequestBudget, type HistoryBudget } from '../../src/webhooks/account-buckets.js';
import { AccountCommandQueue } from '../../src/webhooks/account-command-queue.js';
import type { Right } from '../../src/webhooks/limits.js';
import type { Client } from '../support/clients/api-client.js';
import { Browser, type Opened, opened } from '../support/clients/portal-session.js';
import { eventually } from '../support/clocks/eventually.js';
import { accountView } from '../support/scenes/account-view.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { detail } from '../support/scenes/recoverable-view.js';
import { bound } from '../support/servers/bound-store.js';

type Caller = Pick<Client, 'send'>;
type Call = readonly [method: string, path: string, json?: unknown];
const NOW = () => 0;
const WEBHOOK = { url: 'https://shop.example.com/', eventType: 'cash_in' };

/** What passes it waits while it is closed. */
class Gate {
  passed: Promise<void> | null = null;
  open: () => void = () => undefined;

  close(): void {
    this.passed = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** The limits of the service, none of them small before the attack. */
class Limits {
  writes: RateLimit = () => 0;
  history: HistoryBudget = { take: () => 0, giveBack: () => undefined };
  requests: { take(by: Requester, bytes: number): number } = { take: () => 0 };
  /** ms that a page of deliveries takes in the view. */
  pageMs = 0;
  readonly pages = new Gate();
  readonly appends = new Gate();
  readonly admission = new Admission({ msPerMinute: 1_000, now: NOW });
}

interface Limiter {
  readonly arm: (limits: Limits) => void;
  /** Made until all are rejected, or this often at the same time. */
  readonly calls: (round: number) => readonly Call[];
  readonly by: readonly Right[];
  readonly concurrent?: number;
  readonly rejected: string;
}

const changes = (round: number): readonly Call[] => [
  ['POST', '/api/webhooks', { ...WEBHOOK, eventType: 'cash_out', headers: [{ key: 'X-Round', value: `${round}` }] }],
  ['POST', '/api/signing-secrets'],
  ['POST', '/api/portal-sessions'],
];
/** Takes all that the process may hold, and account 42 its part of it. */
function leaveUnread({ unsent }: Admission): void {
  for (let owner = 42; owner < 48; owner += 1)
    for (const user of ['one', 'another']) unsent.take({ owner, user }, 8 * 1024 * 1024);
}
const page: Call = ['GET', '/api/deliveries'];

const LIMITERS: Readonly<Record<string, Limiter>> = {
  'requests per minute': {
    arm: (limits) => {
      limits.writes = createRateLimit(8, NOW);
    },
    calls: (round) => [['POST', '/api/deliveries/msg_1/resend'], ...changes(round)],
    by: ['resend', 'configure', 'secrets'],
    rejected: 'too-many-requests',
  },
  'time of reads': {
    arm: (limits) => {
      limits.pageMs = 600;
    },
    calls: () => [page],
    by: ['read'],
    rejected: 'reads-too-costly',
  },
  'concurrent reads': {
    arm: ({ pages }) => pages.close(),
    calls: () => [page],
    by: ['read'],
    concurrent: 5,
    rejected: 'too-many-waiting',
  },
  'bytes that are not read': {
    arm: ({ admission }) => leaveUnread(admission),
    calls: () => [page],
    by: ['read'],
    rejected: 'too-many-unread',
  },
  'queued commands': {
    arm: ({ appends }) => appends.close(),
    calls: changes,
    by: ['configure', 'secrets'],
    concurrent: 5,
    rejected: 'too-many-waiting',
  },
  'bytes sent again': {
    arm: (limits) => {
      limits.requests = createRequestBudget(NOW, 4_000);
    },
    calls: () => [['POST', '/api/deliveries/msg_1/resend']],
    by: ['resend'],
    rejected: 'too-much-sent-again',
  },
  'bytes of history': {
    arm: (limits) => {
      limits.history = createHistoryBudget(6_000, NOW);
    },
    calls: changes,
    by: ['configure'],
    rejected: 'over-budget',
  },
};

/** What removes or revokes, and what must be listed for it; `status` if it succeeds. */
const removals = (api: Attacked): readonly (readonly [status: number, call: Call])[] => [
  [200, ['GET', '/api/portal-sessions']],
  [200, ['GET', '/api/credentials']],
  [200, ['GET', '/api/signing-secrets']],
  ...api.attackers.flatMap((one) =>
    one instanceof Browser ? [[200, ['DELETE', `/api/portal-sessions/${one.sessionId}`]] as const] : [],
  ),
  [201, ['POST', '/api/signing-secrets', { revokePrevious: true }]],
  [202, ['POST', '/api/deliveries/msg_1/cancel']],
  [200, ['PATCH', `/api/webhooks/${api.webhookIds[0]}`, { isActive: false }]],
  [200, ['DELETE', `/api/webhooks/${api.webhookIds[1]}`]],
  [404, ['DELETE', '/api/recoveries/none']],
  [200, ['DELETE', '/api/notices']],
];

interface Attacked {
  readonly bare: BareApi;
  readonly limits: Limits;
  readonly owner: Caller;
  readonly attackers: readonly Caller[];
  readonly webhookIds: readonly number[];
  readonly code: Opened;
}

/** @param by the right of the attackers' sessions, or with other credentials of the account */
async function attacked(by: Right | 'credential'): Promise<Attacked> {
  const limits = new Limits();
  const bare = await startBareApi({
    budget: {
      take: (requester, bytes) => limits.history.take(requester, bytes),
      giveBack: (requester, bytes) => limits.history.giveBack(requester, bytes),
    },
    queue: new AccountCommandQueue(8),
    between: (store) => ({
      ...bound(store),
      append: async (...args) => {
        await limits.appends.passed;
        return store.append(...args);
      },
    }),
    parts: {
      verifyToken: async (actor) => ({ kind: 'verified', caller: { accountId: 42, actor, clientId: null } }),
      reserve: new Reserve(NOW),
      view: deliveriesOf(limits),
      rateLimits: { writes: (requester) => limits.writes(requester), tests: () => 0, tokens: () => 0 },
      cancel: createCancelDelivery({
        broker: { publish: async () => [0] },
        topics: { requests: 'requests' },
        budget: { take: (requester, bytes) => limits.requests.take(requester, bytes) },
      }),
      sendAgain: async (_, __, requester) => {
        const retryAfterMs = requester ? limits.requests.take(requester, 500) : 0;
        return retryAfterMs > 0 ? { kind: 'too-much-sent-again', retryAfterMs } : { kind: 'accepted' };
      },
      admission: limits.admission,
    },
  });
  return { bare, limits, ...(await callers(bare, by)) };
}

/** One delivery, which waits. */
function deliveriesOf(limits: Limits): AskView {
  const known = detail(1, { id: 'msg_1', outcome: 'retrying' });
  const view = accountView({
    publications: () => [known],
    health: () => new Map(),
    page: () => ({ deliveries: Array.from({ length: 20 }, () => known), next: null, completeSince: null }),
  });
  const paged: typeof view = {
    ...view,
    page: async (...args) => {
      await limits.pages.passed;
      return view.page(...args);
    },
  };
  return {
    isCaughtUp: true,
    idBehind: async () => 'view-1',
    ask: async (owner, question, user = '') => {
      limits.admission.charge({ owner, user }, limits.pageMs);
      return question(paged);
    },
  };
}

async function callers(bare: BareApi, by: Right | 'credential') {
  const owning = bare.as('owner');
  for (const type of ['cash_in', 'refund_in']) await owning.post({ ...WEBHOOK, eventType: type });
  const webhookIds = (await owning.list()).webhooks.map(({ id }) => id);
  const session = async (can: readonly Right[]) => Browser.in(bare.url, await opened(owning, { can, user: 'shared' }));
  const owner = await session(['read', 'resend', 'configure', 'secrets']);
  const attackers: Caller[] = [];
  for (let n = 0; n < 4; n += 1) attackers.push(by === 'credential' ? bare.as(`thief-${n}`) : await session([by]));
  // Their list is limited by its bytes.
  for (let n = 0; n < 20; n += 1) await opened(owning, { user: `user ${n}`.padEnd(60, '.') });
  return { owner, attackers, webhookIds, code: await opened(owning, { user: 'late', can: ['secrets'] }) };
}

/** @returns the codes of what was rejected */
async function exhaust({ attackers, limits }: Attacked, { arm, calls, concurrent = 0 }: Limiter): Promise<Set<string>> {
  arm(limits);
  const rejected = new Set<string>();
  for (const attacker of attackers) {
    const made = async ([method, path, json]: Call) => {
      const { status, body } = await attacker.send<{ code?: string }>(method, path, { json });
      if (status >= 400) rejected.add(body.code ?? '');
      return status < 400;
    };
    for (let n = 0; n < concurrent; n += 1) pending.push(...calls(n).map(made));
    for (let [n, isLeft] = [0, concurrent === 0]; isLeft; n += 1)
      isLeft = (await Promise.all(calls(n).map(made))).includes(true);
  }
  return rejected;
}

const pending: Promise<unknown>[] = [];

const rows = Object.entries(LIMITERS).flatMap(([name, { by }]) =>
  ([...by, 'credential'] as const).map((attacker) => [name, attacker] as const),
);

describe.each(rows)('the limit of %s, exhausted by %s', (name, by) => {
  let api: Attacked;
  beforeEach(async () => {
    api = await attacked(by);
  });
  afterEach(async () => {
    api.limits.pages.open();
    api.limits.appends.open();
    await Promise.all(pending.splice(0));
    await api.bare.close();
  });

  it('rejects nothing with which another user removes, revokes or signs in', async () => {
    const limiter = LIMITERS[name] as Limiter;
    const rejected = await exhaust(api, limiter);
    await eventually(() => rejected.has(limiter.rejected));
    const asked = removals(api);
    const made = asked.map(async ([, [method, path, json]]) => {
      const { status } = await api.owner.send(method, path, { json });
      return `${status} ${method} ${path}`;
    });
    const entered = Browser.in(api.bare.url, api.code);
    api.limits.appends.open();
    expect(await Promise.all(made)).toEqual(asked.map(([status, [method, path]]) => `${status} ${method} ${path}`));
    expect((await entered).sessionId).toBe(api.code.id);
    expect((await api.owner.send('DELETE', '/console/session')).status).toBe(200);
  });
});
