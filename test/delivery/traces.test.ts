/** What a delivery belongs to: from the payment's record to the endpoint, over its tiers, and in the log. */
import { traceHeaders } from '../../src/delivery/attempt/attempt.js';
import type { TraceContext } from '../../src/observability/tracing.js';
import { failedWith, header, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { DeliverFixture } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT: TraceContext = { traceId: TRACE, spanId: SPAN, flags: 1, state: null };
const SENT = header('traceparent', `00-${TRACE}-${SPAN}-01`);

test("every attempt belongs to the payment's trace, over a tier too", async () => {
  const fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
  fixture.answer = () => failedWith(503);
  await fixture.fanOut(received(paymentRecord({ headers: [SENT, header('tracestate', 'a=1')] })));
  for (const { delivery } of fixture.waiting) await fixture.deliver(delivery);
  expect(fixture.requests.map(({ trace }) => trace)).toEqual(Array(2).fill({ ...PARENT, state: 'a=1' }));
});

test('a trace that is malformed is none', async () => {
  const fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
  await fixture.fanOut(received(paymentRecord({ headers: [header('traceparent', '00-ab-cd-01')] })));
  expect(fixture.requests).toMatchObject([{ trace: null }]);
});

describe('the headers that are sent', () => {
  const own = (...names: string[]) => new Set(names.map((name) => name.toLowerCase()));
  const both = ['traceparent', `00-${TRACE}-${SPAN}-01`, 'tracestate', 'a=1'];
  const stateful = { ...PARENT, state: 'a=1' };

  test.each([
    ['both', stateful, own('X-Key'), both],
    ['traceparent alone where there is no state', PARENT, own(), both.slice(0, 2)],
    ["the webhook's own traceparent, and no state of ours beside it", stateful, own('TraceParent'), []],
    ["the webhook's own tracestate", stateful, own('Tracestate'), both.slice(0, 2)],
  ])('%s', (_, trace, headers, sent) => {
    expect(traceHeaders(trace, headers)).toEqual(sent);
  });
});
