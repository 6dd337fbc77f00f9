/** Opens tracing according to the settings. */
import type { OtlpOptions } from './otlp-tracing.js';
import { noTracing, type Tracing } from './tracing.js';

export interface TracingOptions extends Omit<OtlpOptions, 'endpoint'> {
  /** Null: no collector. */
  readonly endpoint: string | null;
}

/** Loads OpenTelemetry only if a collector is set: the library takes time and memory. */
export async function openTracing({ endpoint, ...options }: TracingOptions): Promise<Tracing> {
  if (endpoint === null) return noTracing;
  const { openOtlpTracing } = await import('./otlp-tracing.js');
  return openOtlpTracing({ endpoint, ...options });
}
