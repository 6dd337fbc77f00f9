/** Tracing by the settings. */
import type { OtlpOptions } from './otlp-tracing.js';
import { noTracing, type Tracing } from './tracing.js';

export interface TracingOptions extends Omit<OtlpOptions, 'endpoint'> {
  /** Null: nobody collects. */
  readonly endpoint: string | null;
}

/** OpenTelemetry is loaded only where a collector is set: it takes time and memory. */
export async function openTracing({ endpoint, ...options }: TracingOptions): Promise<Tracing> {
  if (endpoint === null) return noTracing;
  const { openOtlpTracing } = await import('./otlp-tracing.js');
  return openOtlpTracing({ endpoint, ...options });
}
