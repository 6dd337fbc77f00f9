import type { AttemptRequest, AttemptResult } from '../../../src/delivery/attempt/attempt.js';
import { createSendTestEvent, type SendTestEvent } from '../../../src/delivery/attempt/test-event.js';
import { endpointKey } from '../../../src/delivery/endpoint-key.js';
import { CircuitBreakers } from '../../../src/delivery/isolation/circuit-breaker.js';
import type { TestOutcome } from '../../../src/ports/test-outcome.js';
import type { Webhook } from '../../../src/webhooks/state.js';
import { ACCOUNT, DELIVERED, failedWith, GONE, NOW, TIMED_OUT } from '../../support/generators/delivery-samples.js';
import { webhookOf } from '../../support/scenes/fake-accounts.js';

const SECRETS = [Buffer.alloc(32, 1)];

let requests: AttemptRequest[];
/** Ends the attempts under way, one for each request. */
let answers: ((result: AttemptResult) => void)[];
let ids: number;
let refusing: Error | null;
let send: SendTestEvent;
let outcomes: Promise<TestOutcome>[];
let now: number;
let breakers: CircuitBreakers;

beforeEach(() => {
  now = 0;
  breakers = new CircuitBreakers({ now: () => now, random: () => 0 });
  requests = [];
  answers = [];
  outcomes = [];
  ids = 0;
  refusing = null;
  send = createSendTestEvent({
    attempt: (request) => {
      requests.push(request);
      return new Promise((resolve) => answers.push(resolve));
    },
    configuration: {
      headers: (accountId, webhook) => [{ key: 'X-Of', value: `${accountId} ${(webhook as Webhook).id}` }],
      secrets: async () => {
        if (refusing) throw refusing;
        return SECRETS;
      },
    },
    breakers,
    newId: () => {
      ids += 1;
      return `unique-${ids}`;
    },
    now: () => NOW,
    interrupt: new AbortController().signal,
  });
});
afterEach(async () => {
  for (const answer of answers) answer(DELIVERED);
  await Promise.allSettled(outcomes);
});

/** One that goes out stays under way until it is answered. */
async function begin(accountId: number, path: number | string): Promise<'sent' | 'busy'> {
  const endpoint = `https://shop.example.com/${path}`;
  const before = requests.length;
  const outcome = send(accountId, webhookOf(1, { endpoint }));
  outcomes.push(outcome);
  await new Promise(setImmediate);
  if (requests.length > before) return 'sent';
  expect(await outcome).toEqual({ kind: 'busy' });
  return 'busy';
}

async function result(attempt: AttemptResult): Promise<TestOutcome> {
  const outcome = send(ACCOUNT, webhookOf(9, { eventType: 'med_created', isActive: false }));
  await new Promise(setImmediate);
  answers.at(-1)?.(attempt);
  return outcome;
}

describe('a test event', () => {
  test('is of the type of the webhook, says that it is a test, and goes out as a delivery does', async () => {
    await result(DELIVERED);
    const [{ body, ...request } = {} as AttemptRequest] = requests;
    expect(JSON.parse(String(body))).toEqual({
      id: 'test_unique-1',
      type: 'med_created',
      accountId: ACCOUNT,
      timestamp: '2026-11-21T09:00:00.000Z',
      data: { test: true },
    });
    expect(request).toMatchObject({
      url: 'https://shop.example.com/9',
      id: 'msg_unique-1',
      headers: [{ key: 'X-Of', value: `${ACCOUNT} 9` }],
      secrets: SECRETS,
      keepsAnswer: true,
    });
  });

  test.each([
    ['a 2xx', { ...DELIVERED, response: 'taken' }, { success: true, status: 200, error: null, response: 'taken' }],
    ['a 410, which deactivates nothing', GONE, { success: false, status: 410, error: null }],
    ['another status', failedWith(503, 60_000), { success: false, status: 503, error: null }],
    ['no answer', TIMED_OUT, { success: false, status: null, error: 'timeout', reason: 'waiting-for-headers' }],
  ])('tells %s', async (_, attempt, expected) => {
    const told = { id: 'msg_unique-1', durationMs: 12, response: null, ...expected };
    expect(await result(attempt)).toEqual({ kind: 'sent', result: told });
  });
});

test('a test event is answered before its connection is free, and in flight until then', async () => {
  let free = () => {};
  const over = new Promise<void>((resolve) => (free = resolve));
  expect(await result({ ...DELIVERED, over })).toMatchObject({ kind: 'sent', result: { success: true } });
  expect(await begin(ACCOUNT, 9)).toBe('busy');
  free();
  await over;
  expect(await begin(ACCOUNT, 9)).toBe('sent');
});

describe('the breakers of an endpoint', () => {
  const key = endpointKey(ACCOUNT, 'https://shop.example.com/9');
  const opened = () => {
    for (let n = 0; n < 10; n += 1) breakers.ended(key, 'failed');
    expect(breakers.open).toBe(1);
  };

  test('stop no test event while they are open, and are closed by one that succeeds', async () => {
    opened();
    expect(await result(TIMED_OUT)).toMatchObject({ kind: 'sent', result: { success: false } });
    expect(breakers.open).toBe(1);
    expect(await result(DELIVERED)).toMatchObject({ kind: 'sent', result: { success: true } });
    expect(breakers.open).toBe(0);
  });
});

describe('tests at once', () => {
  test('are one to an endpoint of an account', async () => {
    expect(await begin(1, 'a')).toBe('sent');
    expect(await begin(1, 'a')).toBe('busy');
    expect(await begin(1, 'b')).toBe('sent');
    expect(await begin(2, 'a')).toBe('sent');
    answers[0]?.(DELIVERED);
    await outcomes[0];
    expect(await begin(1, 'a')).toBe('sent');
    expect(await begin(1, 'b')).toBe('busy');
  });

  test('are few of an account, which keeps no other from its own', async () => {
    for (const path of [1, 2, 3, 4]) expect(await begin(1, path)).toBe('sent');
    expect(await begin(1, 5)).toBe('busy');
    expect(await begin(2, 5)).toBe('sent');
  });
});
