/** Test events to a receiver whose certificates cost 100 ms of CPU to verify, each time: how many handshakes they cause. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:tls';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createAttempt } from '../../../src/delivery/attempt/attempt.js';
import { createSendTestEvent, type SendTestEvent } from '../../../src/delivery/attempt/test-event.js';
import { CircuitBreakers } from '../../../src/delivery/isolation/circuit-breaker.js';
import { AttemptFixture, LONG } from '../../support/attempt-fixture.js';
import { costlyChain } from '../../support/costly-chain.js';
import { ACCOUNT } from '../../support/delivery-samples.js';
import { webhookOf } from '../../support/fake-accounts.js';

const TESTS = 30;
const LONGEST_PAUSE_MS = 60_000;
const FAILED = { kind: 'sent', result: { success: false, error: 'tls' } };

const fixture = new AttemptFixture();
let handshakes: number;
let now: number;
let sendTo: (path: number) => ReturnType<SendTestEvent>;

beforeEach(async () => {
  [handshakes, now] = [0, 0];
  const server = createServer(costlyChain());
  server.on('connection', () => (handshakes += 1)).on('tlsClientError', () => undefined);
  const { port } = await fixture.listening(server);
  // On a busy machine four handshakes may look like a process that stood still, whose attempts count for nothing.
  const agent = await fixture.agent({ stallMs: LONG });
  const send = createSendTestEvent({
    attempt: createAttempt({ agent, timeoutMs: LONG, now: Date.now, userAgent: 'test/1' }),
    breakers: new CircuitBreakers({ now: () => now, random: () => 0 }),
    configuration: { headers: () => [], secrets: async () => [Buffer.alloc(32)] },
    newId: randomUUID,
    now: Date.now,
    interrupt: new AbortController().signal,
  });
  sendTo = (path) => send(ACCOUNT, webhookOf(1, { endpoint: `https://localhost:${port}/${path}` }));
});
afterEach(() => fixture.close());

async function oneByOne() {
  const outcomes = [];
  for (let path = 0; path < TESTS; path += 1) outcomes.push(await sendTo(path));
  return outcomes;
}

test('one after the other they cause two handshakes at all URLs of the host, and one after each pause', async () => {
  const [first, second, ...others] = await oneByOne();
  expect([first, second]).toMatchObject([FAILED, FAILED]);
  expect(others.map(({ kind }) => kind)).toEqual(Array(TESTS - 2).fill('failing'));
  expect(handshakes).toBe(2);
  now += LONGEST_PAUSE_MS;
  const [probe, ...rest] = await oneByOne();
  expect(probe).toMatchObject(FAILED);
  expect(rest.map(({ kind }) => kind)).toEqual(Array(TESTS - 1).fill('failing'));
  expect(handshakes).toBe(3);
});

test('together they cause four handshakes, as many as an account may have under way', async () => {
  await Promise.all(Array.from({ length: TESTS }, (_, path) => sendTo(path)));
  expect(handshakes).toBe(4);
  await oneByOne();
  expect(handshakes).toBe(4);
});
