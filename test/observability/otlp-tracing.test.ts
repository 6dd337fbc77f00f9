import { openOtlpTracing } from '../../src/observability/otlp-tracing.js';
import type { NewSpan, TraceContext, Tracing } from '../../src/observability/tracing.js';
import { eventually } from '../support/clocks/eventually.js';
import { recordingLogger } from '../support/scenes/recording-logger.js';
import { type Collector, startCollector } from '../support/servers/collector.js';

const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];
const ERROR = 2;
const PARENT: TraceContext = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  flags: 1,
  state: 'congo=t61rcWkgMzE',
};

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
  const setting = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  tracing = openOtlpTracing({ url: `${collector.url}/base/v1/traces`, setting, version: '1.2.3', logger });
});
afterEach(async () => {
  await tracing.close();
  await collector.close();
});

async function exported() {
  await tracing.close();
  return collector.spans();
}

const span = (more: Partial<NewSpan> = {}): NewSpan => ({
  ...{ name: 'append', kind: 'client', parent: PARENT, attributes: { 'db.collection.name': 'account-42' } },
  ...more,
});

test('spans go to the URL that was set, under the name of the service', async () => {
  tracing.begin(span()).end(null);
  await exported();
  expect(collector.requests.map(({ path }) => path)).toEqual(['/base/v1/traces']);
  expect(collector.resource()).toEqual({ 'service.name': 'account-webhooks', 'service.version': '1.2.3' });
});

test.each([
  ['server', SERVER],
  ['client', CLIENT],
  ['consumer', CONSUMER],
] as const)('a %s span has its parent, its attributes and how it ended', async (kind, number) => {
  tracing.begin(span({ kind })).end(null, { 'http.response.status_code': 204 }, 'DELETE /api/webhooks/{id}');
  tracing.begin(span({ kind, parent: null })).end('timeout');
  const [good, failed] = await exported();
  expect(good).toMatchObject({
    ...{ traceId: PARENT.traceId, parentSpanId: PARENT.spanId, traceState: PARENT.state },
    ...{ name: 'DELETE /api/webhooks/{id}', kind: number, status: { code: 0 } },
    attributes: { 'db.collection.name': 'account-42', 'http.response.status_code': 204 },
  });
  expect(failed?.parentSpanId).toBeUndefined();
  expect(failed).toMatchObject({ name: 'append', status: { code: ERROR }, attributes: { 'error.type': 'timeout' } });
});

test('what happens in a span is a child of it, of the same trace', async () => {
  const outer = tracing.begin(span());
  const inner = tracing.begin(span({ parent: outer.context }));
  expect(inner.context).toMatchObject({ traceId: PARENT.traceId, flags: 1, state: PARENT.state });
  inner.end(null);
  outer.end(null);
  const [sent, processed] = await exported();
  expect(sent).toMatchObject({ spanId: inner.context.spanId, parentSpanId: processed?.spanId });
});

describe('a collector that takes nothing', () => {
  /** As many as go in one batch: they are sent at once. */
  async function batch() {
    const before = collector.requests.length;
    for (let n = 0; n < 512; n += 1) tracing.begin(span()).end(null);
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
