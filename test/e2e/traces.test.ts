/** One trace from a request, or a payment's record, to the audit log, the endpoint and the collector of spans. */
import { openBackbone } from '../../src/composition/backbone.js';
import { readConfig } from '../../src/settings/read-config.js';
import { eventually } from '../support/clocks/eventually.js';
import { header } from '../support/generators/delivery-samples.js';
import { failingFirst } from '../support/scenes/failing-first.js';
import { Served } from '../support/scenes/served.js';
import { silentLogger } from '../support/scenes/silent-logger.js';
import { paymentEvents } from '../support/scenes/story.js';
import { type CollectedSpan, type Collector, startCollector } from '../support/servers/collector.js';
import type { ReceivedRequest } from '../support/servers/receiver.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 20_000 };
const TRACE = { request: 'a'.repeat(32), payment: 'b'.repeat(32) };
const SPAN = 'b7ad6b7169203331';
const traceparent = (traceId: string) => `00-${traceId}-${SPAN}-01`;

/** Its receiver refuses each delivery once. */
const served = Served.around({
  respond: failingFirst(/./),
  settings: { RETRY_SCHEDULE: '100ms,100ms', OTEL_SERVICE_NAME: 'hooks' },
  isProcess: true,
});

/** By a request of the trace. */
async function addWebhook(): Promise<void> {
  const own = { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' };
  const headers = { ...own, traceparent: traceparent(TRACE.request), tracestate: 'a=1' };
  const url = `${served.receiver.url}/secret-path?key=secret-query`;
  const body = JSON.stringify({ url, eventType: 'cash_in', headers: [{ key: 'X-Own', value: 'secret-value' }] });
  expect((await fetch(`${served.service.url}/api/webhooks`, { method: 'POST', headers, body })).status).toBe(200);
}

/** As a payment system would; what came of it, an attempt and the one after it. */
async function pay(id: string, headers: Readonly<Record<string, string>>): Promise<ReceivedRequest[]> {
  const { broker, close } = await openBackbone(readConfig(served.settings), silentLogger);
  const value = Buffer.from(paymentEvents(ACCOUNT, 1, id).trim());
  const traced = Object.entries(headers).map(([key, text]) => header(key, text));
  await broker.publish('payment-events', [{ key: Buffer.from('42'), value, headers: traced }]);
  await close();
  return eventually(() => {
    const came = served.receiver.requests.filter(({ body }) => body.equals(value));
    return came.length >= 2 && came;
  }, PATIENCE);
}

const sentBy = (request: ReceivedRequest | undefined) => String(request?.headers.traceparent).split('-');

let collector: Collector;
let traced: ReceivedRequest[];
let untraced: ReceivedRequest[];
let spans: readonly CollectedSpan[];

beforeAll(async () => {
  collector = await startCollector();
  await served.restart({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await addWebhook();
  traced = await pay('traced', { traceparent: traceparent(TRACE.payment) });
  untraced = await pay('untraced', {});
  // What is not exported by then, the stop has to export.
  expect(await served.service.stop()).toBe(0);
  spans = collector.spans();
});
afterAll(() => collector.close());

const one = (name: string, traceId: string) => spans.filter((span) => span.name === name && span.traceId === traceId);

test('a request is a span, and the append a child of it; the event says so', async () => {
  const [request] = one('POST /api/webhooks', TRACE.request);
  expect(request).toMatchObject({ parentSpanId: SPAN, kind: 2, attributes: { 'http.response.status_code': 200 } });
  expect(one('append', TRACE.request)).toMatchObject([{ parentSpanId: request?.spanId, kind: 3 }]);
  const audited = await served.lines('audit', 'log', '--account', String(ACCOUNT));
  expect(audited.find(({ type }) => type === 'WebhookAdded')).toMatchObject({
    traceparent: `00-${TRACE.request}-${request?.spanId}-01`,
  });
  expect(collector.resource()).toMatchObject({ 'service.name': 'hooks' });
});

test.each([
  ['of its record', () => traced, TRACE.payment, SPAN],
  ['of its own', () => untraced, null, undefined],
])(
  'a payment in a trace %s has a span of its fan-out, and one of each attempt below it',
  (_, requests, given, parentSpanId) => {
    const traceId = given ?? sentBy(requests()[0])[1] ?? '';
    const [fanOut] = one('process payment-events', traceId);
    expect(fanOut).toMatchObject({ kind: 5, status: { code: 0 } });
    expect(fanOut?.parentSpanId).toBe(parentSpanId);
    const attempts = requests().map((request) => spans.find(({ spanId }) => spanId === sentBy(request)[2]));
    const common = { name: 'POST', kind: 3, traceId, parentSpanId: fanOut?.spanId };
    expect(attempts).toMatchObject([
      { ...common, attributes: { 'error.type': '503', 'server.address': 'localhost' } },
      { ...common, attributes: { 'http.response.status_code': 200 } },
    ]);
  },
);

test('nothing of what may be secret is exported', () => {
  const exported = JSON.stringify(collector.requests);
  expect(exported).toContain(TRACE.payment);
  expect(exported).not.toMatch(/secret-|whsec_|Bearer/);
});
