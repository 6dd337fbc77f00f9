/** An exporter of spans whose failures are told once, and its recovery too: not a line for each batch. */
import type { Logger } from './logger.js';

/** OpenTelemetry's SpanExporter, as far as it goes. */
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

/** Not the error itself: it may hold what the collector answered. */
function reasonOf(error: (Error & { readonly code?: string | number }) | undefined) {
  return { why: error?.message || 'no answer', code: error?.code };
}
