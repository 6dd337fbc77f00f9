/** A span exporter that logs a failure once, and its recovery too, instead of a line per batch. */
import type { Logger } from './logger.js';

/** The part of OpenTelemetry's SpanExporter in use. */
interface Exporter<S> {
  export(spans: S[], done: (result: Result) => void): void;
  shutdown(): Promise<void>;
  forceFlush?(): Promise<void>;
}

interface Result {
  readonly code: number;
  readonly error?: Error;
}

const SUCCESS = 0;

export class TellingExporter<S> implements Exporter<S> {
  readonly #exporter: Exporter<S>;
  readonly #logger: Logger;
  #fails = false;

  constructor(exporter: Exporter<S>, logger: Logger) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: S[], done: (result: Result) => void): void {
    this.#exporter.export(spans, (result) => {
      this.#tell(result.code === SUCCESS, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #tell(succeeded: boolean, error: Error | undefined): void {
    if (succeeded !== this.#fails) return;
    this.#fails = !succeeded;
    if (succeeded) this.#logger.info('spans are exported again');
    else
      this.#logger.warn(reasonOf(error), 'spans can not be exported to OTEL_EXPORTER_OTLP_ENDPOINT: they are dropped');
  }
}

/** Not the error itself, which may contain the collector's response. */
function reasonOf(error: (Error & { readonly code?: string | number }) | undefined) {
  return { why: error?.message || 'no answer', code: error?.code };
}
