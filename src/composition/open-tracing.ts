/** Opens the export of spans as OpenTelemetry's own settings say, or reports which of them have no effect. */

import { trimTrailingSlashes } from '../host/trailing-slashes.js';
import type { Logger } from '../observability/logger.js';
import type { Tracing } from '../observability/tracing.js';
import { version } from '../package-file.js';
import type { Config } from '../settings/read-config.js';

type TracingSettings = Pick<
  Config,
  | 'OTEL_SDK_DISABLED'
  | 'OTEL_TRACES_EXPORTER'
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_PROTOCOL'
  | 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'
>;

const PROTOCOL = 'http/json';

/** Loads OpenTelemetry only if spans are exported: the library takes time and memory. Null: no spans are created. */
export async function openTracing(settings: TracingSettings, logger: Logger): Promise<Tracing | null> {
  const collector = findCollector(settings);
  if (collector === null || settings.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null;
  const exporter = settings.OTEL_TRACES_EXPORTER ?? 'otlp';
  if (exporter === 'none') return null;
  if (exporter !== 'otlp') warnUnsupported(logger, 'OTEL_TRACES_EXPORTER', exporter, 'otlp');
  const ofTraces = settings.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL;
  const protocol = ofTraces ?? settings.OTEL_EXPORTER_OTLP_PROTOCOL ?? PROTOCOL;
  const name = ofTraces === null ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL';
  if (protocol !== PROTOCOL) warnUnsupported(logger, name, protocol, PROTOCOL);
  const { openOtlpTracing } = await import('../observability/otlp-tracing.js');
  return openOtlpTracing({ ...collector, version: version(), logger });
}

/** The endpoint of traces is used as it is; `v1/traces` is appended to the general one (OTLP exporter specification). */
function findCollector(settings: TracingSettings): { readonly url: string; readonly setting: string } | null {
  const ofTraces = settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (ofTraces !== null) return { url: ofTraces, setting: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' };
  if (settings.OTEL_EXPORTER_OTLP_ENDPOINT === null) return null;
  const url = new URL(settings.OTEL_EXPORTER_OTLP_ENDPOINT);
  url.pathname = `${trimTrailingSlashes(url.pathname)}/v1/traces`;
  return { url: url.href, setting: 'OTEL_EXPORTER_OTLP_ENDPOINT' };
}

function warnUnsupported(logger: Logger, setting: string, value: string, used: string): void {
  logger.warn({ setting, value, used }, `${setting} has a value that is not supported; spans are exported by ${used}`);
}
