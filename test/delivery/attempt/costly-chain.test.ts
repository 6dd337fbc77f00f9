/** Test events to a receiver whose certificates cost 100 ms of CPU to verify, each time: how many handshakes they cause. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:tls';
import { createAttempt } from '../../../src/delivery/attempt/attempt.js';
import { createSendTestEvent, type SendTestEvent } from '../../../src/delivery/attempt/test-event.js';
import { endpointKey, hostKey } from '../../../src/delivery/endpoint-key.js';
import { CircuitBreakers } from '../../../src/delivery/isolation/circuit-breaker.js';
import { ACCOUNT } from '../../support/generators/delivery-samples.js';
import { AttemptFixture, LONG } from '../../support/scenes/attempt-fixture.js';
import { webhookOf } from '../../support/scenes/fake-accounts.js';
import { costlyChain } from '../../support/servers/costly-chain.js';

const TESTS = 30;
const FAILED = { kind: 'sent', result: { success: false, error: 'tls' } };

const fixture = new AttemptFixture();
let handshakes: number;
let breakers: CircuitBreakers;
let endpointAt: (path: number) => string;
let sendTo: (path: number) => ReturnType<SendTestEvent>;

beforeEach(async () => {
  handshakes = 0;
  breakers = new CircuitBreakers({ now: () => 0, random: () => 0 });
  const server = createServer(costlyChain());
  server.on('connection', () => (handshakes += 1)).on('tlsClientError', () => undefined);
  const { port } = await fixture.listening(server);
  const agent = await fixture.agent();
  const send = createSendTestEvent({
    attempt: createAttempt({ agent, timeoutMs: LONG, now: Date.now, userAgent: 'test/1' }),
    breakers,
    configuration: { headers: () => [], secrets: async () => [Buffer.alloc(32)] },
    newId: randomUUID,
    now: Date.now,
    interrupt: new AbortController().signal,
  });
  endpointAt = (path) => `https://localhost:${port}/${path}`;
  sendTo = (path) => send(ACCOUNT, webhookOf(1, { endpoint: endpointAt(path) }));
});
afterEach(() => fixture.close());

test('together they cause four handshakes, as many as an account may have under way', async () => {
  const outcomes = await Promise.all(Array.from({ length: TESTS }, (_, path) => sendTo(path)));
  expect(outcomes.slice(0, 4)).toMatchObject(Array(4).fill(FAILED));
  expect(outcomes.slice(4)).toEqual(Array(TESTS - 4).fill({ kind: 'busy' }));
  expect(handshakes).toBe(4);
});

test('deliveries to the host are not tried after the first two', async () => {
  for (const path of [1, 2]) expect(await sendTo(path)).toMatchObject(FAILED);
  const host = hostKey(endpointKey(ACCOUNT, endpointAt(3)));
  expect(breakers.openForMs(host)).toBeGreaterThan(0);
});
