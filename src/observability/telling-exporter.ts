/** A span exporter that logs a failure once, and its recovery too, instead of a line per batch. */
import { explainedTrouble, type Server } from '../host/connection-trouble.js';
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

const COLLECTOR: Server = {
  name: 'the collector',
  url: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  trust: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
  tls: {
    on: 'use https in OTEL_EXPORTER_OTLP_ENDPOINT',
    off: 'use http in OTEL_EXPORTER_OTLP_ENDPOINT, or its TLS port',
  },
  clientCertificate: 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY',
};

/** Not the error itself, which may contain the collector's response. */
function reasonOf(error: (Error & { readonly code?: string | number }) | undefined) {
  const { message = '', code } = error ?? {};
  const trouble = typeof code === 'string' ? explainedTrouble(`${code} ${message}`, code, COLLECTOR) : null;
  return { why: trouble?.says ?? (message || 'no answer'), code };
}
