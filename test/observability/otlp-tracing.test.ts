import { openOtlpTracing } from '../../src/observability/otlp-tracing.js';
import type { TraceContext } from '../../src/observability/tracing.js';
import { noTracing, type Tracing } from '../../src/observability/tracing.js';
import { type Collector, startCollector } from '../support/collector.js';
import { eventually } from '../support/eventually.js';
import { recordingLogger } from '../support/recording-logger.js';

const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];
const ERROR = 2;
const PARENT: TraceContext = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  flags: 1,
  state: 'congo=t61rcWkgMzE',
};
const RECORD = { topic: 'payment-events', partition: 2, offset: 7 };
const ATTEMPT = { url: 'https://shop.example.com:8443/secret-path?key=secret-query', id: 'msg_1' };

let status: number;
let collector: Collector;
let tracing: Tracing;
const logger = { ...recordingLogger(), infos: [] as unknown[][] };

beforeEach(async () => {
  status = 200;
  logger.warnings.length = 0;
  logger.infos = [];
  logger.info = (...args: unknown[]) => void logger.infos.push(args);
  collector = await startCollector(() => status);
  tracing = openOtlpTracing({ endpoint: `${collector.url}/base/`, serviceName: 'hooks', version: '1.2.3', logger });
});
afterEach(async () => {
  await tracing.close();
  await collector.close();
});

async function exported() {
  await tracing.close();
  return collector.spans();
}

describe('what is exported', () => {
  test('goes below the endpoint that was set, in the name that was set', async () => {
    tracing.append('account-42', null)?.end(null);
    await exported();
    expect(collector.requests.map(({ path }) => path)).toEqual(['/base/v1/traces']);
    expect(collector.resource()).toEqual({ 'service.name': 'hooks', 'service.version': '1.2.3' });
  });

  test('a request, under the template of its route', async () => {
    tracing.request('DELETE', PARENT)?.end('/api/webhooks/{id}', 204);
    tracing.request('GET', null)?.end(null, 404);
    tracing.request('POST', null)?.end('/api/webhooks', 500);
    const [removed, unknown, failed] = await exported();
    expect(removed).toMatchObject({
      ...{ traceId: PARENT.traceId, parentSpanId: PARENT.spanId, traceState: PARENT.state },
      ...{ name: 'DELETE /api/webhooks/{id}', kind: SERVER, status: { code: 0 } },
    });
    expect(removed?.attributes).toEqual({
      ...{ 'http.request.method': 'DELETE', 'http.route': '/api/webhooks/{id}', 'http.response.status_code': 204 },
    });
    expect(unknown).toMatchObject({
      name: 'GET',
      status: { code: 0 },
      attributes: { 'http.response.status_code': 404 },
    });
    expect(unknown?.parentSpanId).toBeUndefined();
    expect(failed).toMatchObject({ status: { code: ERROR }, attributes: { 'error.type': '500' } });
  });

  test('an append, and a record, with what went wrong', async () => {
    tracing.append('account-42', PARENT)?.end('WrongExpectedRevision');
    tracing.fanOut(RECORD, PARENT)?.end(null);
    expect(await exported()).toMatchObject([
      { name: 'append', kind: CLIENT, status: { code: ERROR }, attributes: { 'error.type': 'WrongExpectedRevision' } },
      {
        ...{ name: 'process payment-events', kind: CONSUMER, status: { code: 0 }, parentSpanId: PARENT.spanId },
        attributes: { 'messaging.destination.name': 'payment-events', 'messaging.destination.partition.id': '2' },
      },
    ]);
  });

  test('attempts, with the host and without what comes after it', async () => {
    tracing.attempt({ ...ATTEMPT, trace: PARENT })?.end(503, null);
    tracing.attempt({ ...ATTEMPT, trace: PARENT })?.end(null, 'timeout');
    tracing.attempt({ ...ATTEMPT, trace: PARENT, url: 'https://shop.example.com/' })?.end(200, null);
    const spans = await exported();
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual(['503', 'timeout', undefined]);
    expect(spans.map(({ attributes }) => attributes['server.port'])).toEqual([8443, 8443, 443]);
    expect(spans.map((span) => span.status.code)).toEqual([ERROR, ERROR, 0]);
    expect(spans[0]).toMatchObject({
      ...{ name: 'POST', kind: CLIENT, parentSpanId: PARENT.spanId },
      attributes: { 'server.address': 'shop.example.com', 'account_webhooks.delivery.id': 'msg_1' },
    });
    expect(JSON.stringify(collector.requests)).not.toContain('secret');
  });

  test('of an attempt after a wait: a link to the one before it', async () => {
    const first = tracing.attempt({ ...ATTEMPT, trace: PARENT });
    first?.end(503, null);
    const previous = first?.context.spanId ?? null;
    tracing.attempt({ ...ATTEMPT, trace: PARENT, previous })?.end(200, null);
    const [, second] = await exported();
    expect(second).toMatchObject({
      parentSpanId: PARENT.spanId,
      links: [{ traceId: PARENT.traceId, spanId: previous }],
    });
  });
});

test('what happens in a span is a child of it, of the same trace', async () => {
  const fanOut = tracing.fanOut(RECORD, PARENT);
  const attempt = tracing.attempt({ ...ATTEMPT, trace: fanOut?.context ?? null });
  expect(attempt?.context).toMatchObject({ traceId: PARENT.traceId, flags: 1, state: PARENT.state });
  attempt?.end(200, null);
  fanOut?.end(null);
  const [sent, processed] = await exported();
  expect(sent).toMatchObject({ spanId: attempt?.context.spanId, parentSpanId: processed?.spanId });
});

test('what its system did not sample is not exported, and stays of its trace', async () => {
  const span = tracing.fanOut(RECORD, { ...PARENT, flags: 0 });
  span?.end(null);
  expect(await exported()).toEqual([]);
  expect(span?.context).toMatchObject({ traceId: PARENT.traceId, flags: 0 });
});

test('without a parent a new trace begins', () => {
  const [one, other] = [tracing.fanOut(RECORD, null)?.context, tracing.fanOut(RECORD, null)?.context];
  expect(one?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(one?.traceId).not.toBe(other?.traceId);
});

describe('a collector that takes nothing', () => {
  /** As many as go in one batch: they are sent at once. */
  async function batch() {
    const before = collector.requests.length;
    for (let n = 0; n < 512; n += 1) tracing.append('account-42', null)?.end(null);
    await eventually(() => collector.requests.length > before);
  }

  test('is told once, and once again when it does', async () => {
    status = 400;
    await batch();
    await batch();
    await eventually(() => logger.warnings.length > 0);
    status = 200;
    await batch();
    await eventually(() => logger.infos.length > 0);
    expect(logger.warnings).toEqual([
      [expect.objectContaining({ code: 400 }), expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT')],
    ]);
    expect(logger.infos).toEqual([['spans are exported again']]);
  });
});

test('of a collector without TLS the warning names the cause and the setting', async () => {
  const endpoint = collector.url.replace('http:', 'https:');
  const wrong = openOtlpTracing({ endpoint, serviceName: 'hooks', version: '1.2.3', logger });
  wrong.append('account-42', null)?.end(null);
  await wrong.close();
  await eventually(() => logger.warnings.length > 0);
  const why = expect.stringMatching(
    /^the collector speaks no TLS at this port .*: use http in OTEL_EXPORTER_OTLP_ENDPOINT/,
  );
  expect(logger.warnings).toEqual([[expect.objectContaining({ why }), expect.anything()]]);
});

test('the tracing without a collector makes no spans', () => {
  const [request, append] = [noTracing.request('GET', PARENT), noTracing.append('account-42', PARENT)];
  const [fanOut, attempt] = [noTracing.fanOut(RECORD, PARENT), noTracing.attempt({ ...ATTEMPT, trace: PARENT })];
  expect([request, append, fanOut, attempt]).toEqual([null, null, null, null]);
});
