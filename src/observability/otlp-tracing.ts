/**
 * Spans through OpenTelemetry, to a collector over OTLP/HTTP. Nothing is registered globally and no context is
 * implicit: callers pass parents explicitly. The SDK itself reads its other environment variables
 * (OTEL_SERVICE_NAME, OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER ...).
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Context,
  createTraceState,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from './logger.js';
import type { NewSpan, Span, TraceContext, Tracing } from './tracing.js';

const CLOSE_WITHIN_MS = 1_000;
/** ExportResultCode.SUCCESS of OpenTelemetry's core, which is no dependency of ours. */
const EXPORTED = 0;

interface OtlpOptions {
  /** Of the collector's traces, http or https. */
  readonly url: string;
  /** The name of the setting that has this URL. */
  readonly setting: string;
  readonly version: string;
  readonly logger: Logger;
}

export function openOtlpTracing({ url, setting, version, logger }: OtlpOptions): Tracing {
  const exporter = loggingExporter(new OTLPTraceExporter({ url }), setting, logger);
  const own = resourceFromAttributes({ 'service.name': 'account-webhooks', 'service.version': version });
  const provider = new BasicTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  // The exporter has already reported whether the collector took the rest.
  const shutdown = () => provider.shutdown().catch(() => undefined);
  const close = () => Promise.race([shutdown(), delay(CLOSE_WITHIN_MS, undefined, { ref: false })]);
  const tracer = provider.getTracer('account-webhooks', version);
  return { begin: (span) => begun(tracer, span), close };
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };

function begun(tracer: Tracer, { name, kind, parent, attributes }: NewSpan): Span {
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent));
  const end: Span['end'] = (error, more = {}, renamed = name) => {
    span.updateName(renamed).setAttributes(more);
    if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
  return { context: within(span, parent), end };
}

function contextOf(parent: TraceContext | null): Context {
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, flags, state } = parent;
  const traceState = state === null ? {} : { traceState: createTraceState(state) };
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, ...traceState });
}

function within(span: OtelSpan, parent: TraceContext | null): TraceContext {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, spanId, flags: traceFlags, state: parent?.state ?? null };
}

/** Logs a failure to export once, and its recovery too, instead of a line per batch. */
function loggingExporter(exporter: OTLPTraceExporter, setting: string, logger: Logger): SpanExporter {
  let fails = false;
  const log = (succeeded: boolean, error: (Error & { code?: string | number }) | undefined) => {
    if (succeeded !== fails) return;
    fails = !succeeded;
    if (succeeded) logger.info('spans are exported again');
    // Not the error itself, which may contain the collector's response.
    else logger.warn({ code: error?.code }, `spans cannot be exported to ${setting}: they are dropped`);
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        log(result.code === EXPORTED, result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}
