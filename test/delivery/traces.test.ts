/** What a delivery belongs to: from the payment's record to the endpoint, over its tiers, and in the log. */
import type { AttemptRequest } from '../../src/delivery/attempt/attempt.js';
import { tracedAttempt, traceHeaders } from '../../src/delivery/attempt/attempt.js';
import type { TraceContext } from '../../src/observability/tracing.js';
import { failedWith, header, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { DeliverFixture } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT: TraceContext = { traceId: TRACE, spanId: SPAN, flags: 1, state: null };
const SENT = header('traceparent', `00-${TRACE}-${SPAN}-01`);

describe('while nobody collects', () => {
  let fixture: DeliverFixture;
  let requests: AttemptRequest[];
  beforeEach(() => {
    requests = [];
    const sending = async (request: AttemptRequest) => {
      requests.push(request);
      return fixture.answer(request);
    };
    fixture = new DeliverFixture({ attempt: tracedAttempt(sending, null, Math.random) });
    fixture.accounts.put(webhookOf(1));
  });

  const records = () => fixture.waiting.map(({ delivery }) => delivery);

  test("every attempt is a child of the payment's, over a tier too, each with an id of its own", async () => {
    fixture.answer = () => failedWith(503);
    await fixture.fanOut(received(paymentRecord({ headers: [SENT, header('tracestate', 'a=1')] })));
    for (const delivery of records()) await fixture.deliver(delivery);
    expect(requests.map(({ trace }) => trace)).toMatchObject(Array(2).fill({ traceId: TRACE, flags: 1, state: 'a=1' }));
    expect(new Set([SPAN, ...requests.map(({ trace }) => trace?.spanId)]).size).toBe(3);
  });

  test.each([
    ['none', []],
    ['one that is malformed', [header('traceparent', '00-ab-cd-01')]],
  ])('a payment with %s: no attempt has one, and what is sent is not copied', async (_, headers) => {
    await fixture.fanOut(received(paymentRecord({ headers })));
    expect(requests).toMatchObject([{ trace: null }]);
    const one = requests[0] as AttemptRequest;
    await fixture.parts.attempt(one);
    expect(requests[1]).toBe(one);
  });
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
