import { EndpointHealth } from '../../src/delivery/endpoint-health.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import type { Command, Decision } from '../../src/webhooks/decide.js';
import { eventually } from '../support/clocks/eventually.js';
import {
  ACCOUNT,
  DELIVERED,
  deliveryTo,
  failedWith,
  GONE,
  INTERRUPTED,
  NOW,
} from '../support/generators/delivery-samples.js';
import { DeliverFixture } from '../support/scenes/deliver-fixture.js';
import { FakeAccounts, webhookOf } from '../support/scenes/fake-accounts.js';
import { recordingLogger } from '../support/scenes/recording-logger.js';

const ENDPOINT = 'https://shop.example.com/1';
const OTHER = 'https://shop.example.com/2';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let now: number;
let accounts: FakeAccounts;
let commands: Command[];
let decide: () => Promise<Decision>;
let logger: ReturnType<typeof recordingLogger>;
let health: EndpointHealth;
beforeEach(() => {
  now = NOW;
  accounts = new FakeAccounts();
  commands = [];
  decide = async () => ({ kind: 'accepted', events: [] });
  logger = recordingLogger();
  health = healthOf(5 * DAY);
});

function healthOf(deactivateAfterMs: number): EndpointHealth {
  const handleCommand = async (accountId: number, command: Command) => {
    expect(accountId).toBe(ACCOUNT);
    commands.push(command);
    return decide();
  };
  return new EndpointHealth({ accounts, handleCommand, logger, now: () => now, deactivateAfterMs });
}

const attempted = (endpoint = ENDPOINT, error: string | null = null) => ({
  delivery: deliveryTo(1),
  endpoint,
  failure: { at: now, status: error ? null : 503, error },
});
const lastFailure = (at: number) => ({ at: iso(at), status: 503, error: null });
const iso = (ms: number) => new Date(ms).toISOString();
const noted = (since: number, endpoint = ENDPOINT) => ({ endpoint, since: iso(since) });
/** Until what the last attempt led to has been done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Attempts that failed, so long after one another. */
async function failures(...after: readonly number[]): Promise<void> {
  for (const ms of after) {
    now += ms;
    health.failed(attempted());
    await settled();
  }
}

describe('an endpoint that fails', () => {
  test('is noted after ten minutes, with its first and its last failure', async () => {
    await failures(0, 5_000, 10 * MINUTE - 5_001);
    expect(commands).toEqual([]);
    await failures(1);
    const at = NOW + 10 * MINUTE;
    const about = {
      endpoint: ENDPOINT,
      since: iso(NOW),
      deactivatesAt: iso(NOW + 5 * DAY),
      lastFailure: lastFailure(at),
    };
    expect(commands).toEqual([{ type: 'NoteEndpointFailing', ...about, at: iso(at) }]);
  });

  test.each(['dns', 'forbidden-address'])(
    'is noted without saying whether its host is known to us: %s',
    async (error) => {
      await failures(0);
      now += 10 * MINUTE;
      health.failed(attempted(ENDPOINT, error));
      expect(commands).toMatchObject([{ lastFailure: { status: null, error: 'host' } }]);
    },
  );

  test('is not noted where it took something in between', async () => {
    await failures(0, 9 * MINUTE);
    health.succeeded(attempted());
    await failures(MINUTE, 9 * MINUTE);
    expect(commands).toEqual([]);
  });

  test('is noted as of ten minutes ago where its first failure is long ago: others may have delivered meanwhile', async () => {
    await failures(0, 3 * HOUR);
    expect(commands).toMatchObject([{ since: iso(now - 10 * MINUTE) }]);
  });

  test('is noted by the next attempt where the store is away', async () => {
    decide = () => Promise.reject(new StoreUnavailable('away'));
    await failures(0, 10 * MINUTE);
    expect(logger.errors).toHaveLength(1);
    decide = async () => ({ kind: 'accepted', events: [] });
    await failures(MINUTE);
    expect(commands).toHaveLength(2);
  });

  test('begins anew where it was noted and is no more: it recovered elsewhere, or was configured anew', async () => {
    await failures(0, 10 * MINUTE);
    accounts.failing = [noted(NOW)];
    await failures(MINUTE);
    accounts.failing = [];
    await failures(MINUTE, 9 * MINUTE);
    expect(commands).toHaveLength(1);
    await failures(MINUTE);
    expect(commands).toHaveLength(2);
    expect(commands[1]).toMatchObject({ type: 'NoteEndpointFailing', since: iso(NOW + 12 * MINUTE) });
  });
});

describe('an endpoint that has failed for its time', () => {
  beforeEach(() => {
    accounts.failing = [noted(NOW)];
  });

  test('loses its webhooks with the next failure, and that is told', async () => {
    accounts.failing = [{ ...noted(NOW), deactivatesAt: iso(NOW + 5 * DAY) }];
    await failures(5 * DAY - 1);
    expect(commands).toEqual([]);
    const data = { webhookId: 1, reason: 'because', deactivatedAt: iso(now) };
    decide = async () => ({ kind: 'accepted', events: [{ type: 'WebhookDeactivated', data }] });
    await failures(1);
    const at = iso(NOW + 5 * DAY);
    const about = { endpoint: ENDPOINT, lastFailure: lastFailure(now) };
    expect(commands).toEqual([{ type: 'DeactivateFailingEndpoint', ...about, afterMs: 5 * DAY, at }]);
    expect(logger.warnings).toMatchObject([
      [{ accountId: ACCOUNT, webhookId: 1 }, expect.stringContaining('too long')],
    ]);
  });

  test('gets that announced an hour before, until it is announced', async () => {
    await failures(5 * DAY - HOUR - 1);
    expect(commands).toEqual([]);
    await failures(1);
    const about = {
      endpoint: ENDPOINT,
      deactivatesAt: iso(NOW + 5 * DAY),
      lastFailure: lastFailure(now),
      at: iso(now),
    };
    expect(commands).toEqual([{ type: 'AnnounceDeactivation', ...about }]);
    accounts.failing = [{ ...noted(NOW), deactivatesAt: iso(NOW + 5 * DAY) }];
    await failures(MINUTE);
    expect(commands).toHaveLength(1);
  });

  test('is given longer where DEACTIVATE_AFTER was raised after that was announced', async () => {
    accounts.failing = [{ ...noted(NOW), deactivatesAt: iso(NOW + 4 * DAY) }];
    await failures(4 * DAY + HOUR);
    expect(commands).toEqual([]);
  });

  test('keeps them where DEACTIVATE_AFTER is 0', async () => {
    health = healthOf(0);
    await failures(6 * DAY, 6 * DAY);
    expect(commands).toEqual([]);
  });
});

describe('an endpoint that takes something', () => {
  test('costs no command where it was not noted', async () => {
    health.succeeded(attempted());
    accounts.failing = [noted(NOW, OTHER)];
    health.succeeded(attempted());
    await settled();
    expect(commands).toEqual([]);
  });

  test.each([5 * DAY, 0])(
    'has recovered where it was noted, once (DEACTIVATE_AFTER %d ms)',
    async (deactivateAfterMs) => {
      health = healthOf(deactivateAfterMs);
      accounts.failing = [noted(NOW)];
      for (let n = 0; n < 16; n += 1) health.succeeded(attempted());
      await settled();
      expect(commands).toEqual([{ type: 'NoteEndpointRecovered', endpoint: ENDPOINT, at: iso(NOW) }]);
    },
  );

  test.each([
    ['NoteEndpointFailing', 10 * MINUTE, []],
    ['AnnounceDeactivation', 5 * DAY - HOUR, [noted(NOW)]],
  ])('during %s has recovered right after', async (type, after, failing) => {
    let answer: (decision: Decision) => void = () => undefined;
    accounts.failing = failing;
    await failures(0);
    decide = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    await failures(after);
    health.succeeded(attempted());
    expect(commands).toMatchObject([{ type }]);
    answer({ kind: 'accepted', events: [] });
    await eventually(() => commands.length === 2);
    expect(commands[1]).toMatchObject({ type: 'NoteEndpointRecovered' });
  });
});

describe('a delivery', () => {
  beforeEach(() => {
    accounts.failing = [{ ...noted(NOW - 6 * DAY), deactivatesAt: iso(NOW - DAY) }];
  });

  async function delivered(result: typeof DELIVERED): Promise<DeliverFixture> {
    const fixture = new DeliverFixture({ health });
    fixture.accounts.put(webhookOf(1));
    fixture.answer = () => result;
    await fixture.deliver(deliveryTo(1));
    return fixture;
  }

  test.each([
    ['delivered', DELIVERED, ['NoteEndpointRecovered']],
    ['failed', failedWith(500), ['DeactivateFailingEndpoint']],
    ['refused for now', failedWith(429), ['DeactivateFailingEndpoint']],
    ['refused until then', failedWith(503, 60_000), ['DeactivateFailingEndpoint']],
    ['gone', GONE, []],
    ['interrupted', INTERRUPTED, []],
  ])('whose attempt was %s: %j', async (_, result, expected) => {
    await delivered(result);
    expect(commands.map(({ type }) => type)).toEqual(expected);
  });

  test('is not held up by a command that gets no answer', async () => {
    decide = () => new Promise(() => undefined);
    const { log } = await delivered(failedWith(500));
    expect(log).toMatchObject([{ outcome: 'retrying' }]);
    expect(commands).toHaveLength(1);
  });
});
