import { openTracing } from '../../src/composition/open-tracing.js';
import { readConfig } from '../../src/settings/read-config.js';
import { recordingLogger } from '../support/scenes/recording-logger.js';
import { type Collector, startCollector } from '../support/servers/collector.js';

let collector: Collector;
let logger: ReturnType<typeof recordingLogger>;
let status: number;
beforeEach(async () => {
  status = 200;
  collector = await startCollector(() => status);
  logger = recordingLogger();
});
afterEach(() => collector.close());

/** The paths at the collector of one span, or null if none is created. @param settings may name $URL */
async function exportedTo(settings: Readonly<Record<string, string>>): Promise<readonly string[] | null> {
  const entries = Object.entries(settings).map(([key, value]) => [key, value.replace('$URL', collector.url)]);
  const tracing = await openTracing(readConfig(Object.fromEntries(entries)), logger);
  if (!tracing) return null;
  tracing.begin({ name: 'append', kind: 'client', parent: null, attributes: {} }).end(null);
  await tracing.close();
  return collector.requests.map(({ path }) => path);
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: '$URL/base/' };

describe('the settings of OpenTelemetry', () => {
  it.each<[string, Record<string, string>, readonly string[] | null]>([
    ['no endpoint', {}, null],
    ['an endpoint', ENDPOINT, ['/base/v1/traces']],
    ['an endpoint of traces', { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '$URL/own' }, ['/own']],
    ['a disabled SDK', { ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }, null],
    ['a SDK that is not disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }, ['/base/v1/traces']],
    ['no exporter of traces', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, null],
  ])('are honored: %s', async (_, settings, expected) => {
    expect(await exportedTo(settings)).toEqual(expected);
    expect(logger.warnings).toEqual([]);
  });

  it.each([
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/protobuf'],
  ])('are reported if they are not supported: %s=%s', async (setting, value) => {
    expect(await exportedTo({ ...ENDPOINT, [setting]: value })).toEqual(['/base/v1/traces']);
    expect(logger.warnings).toEqual([
      [expect.objectContaining({ setting, value }), expect.stringContaining('is not supported')],
    ]);
  });
});

describe('the warning of spans that cannot be exported', () => {
  it.each<[string, Record<string, string>]>([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ENDPOINT],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '$URL/own' }],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '$URL/own' }],
  ])('names the setting in use: %s', async (setting, settings) => {
    status = 400;
    await exportedTo(settings);
    expect(logger.warnings).toEqual([[{ code: 400 }, `spans cannot be exported to ${setting}: they are dropped`]]);
  });
});
