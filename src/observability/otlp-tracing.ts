/**
 * Spans through OpenTelemetry, to a collector over OTLP/HTTP. Nothing is registered globally and no context is
 * implicit: callers pass parents explicitly. The SDK itself reads its other environment variables
 * (OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES ...). Hazard: never put a possible secret
 * into a span.
 */

import { setTimeout as delay } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  createTraceState,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { explainedTrouble, type Server } from '../host/connection-trouble.js';
import type { Logger } from './logger.js';
import type { Span, TraceContext, TracedAttempt, Tracing } from './tracing.js';

const CLOSE_WITHIN_MS = 1_000;
/** ExportResultCode.SUCCESS of OpenTelemetry's core, which is no dependency of ours. */
const EXPORTED = 0;

interface OtlpOptions {
  /** The collector's URL, http or https, without v1/traces. */
  readonly endpoint: string;
  readonly serviceName: string;
  readonly version: string;
  readonly logger: Logger;
}

export function openOtlpTracing({ endpoint, serviceName, version, logger }: OtlpOptions): Tracing {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  const exporter = loggingExporter(new OTLPTraceExporter({ url: url.href }), logger);
  const own = resourceFromAttributes({ 'service.name': serviceName, 'service.version': version });
  const provider = new BasicTracerProvider({
    resource: detectResources({ detectors: [envDetector] }).merge(own),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  // The exporter has already reported whether the collector took the rest.
  const shutdown = () => provider.shutdown().catch(() => undefined);
  const close = () => Promise.race([shutdown(), delay(CLOSE_WITHIN_MS, undefined, { ref: false })]);
  return { ...spansOf(provider.getTracer('account-webhooks', version)), close };
}

function spansOf(tracer: Tracer): Omit<Tracing, 'close'> {
  const begun = (name: string, options: SpanOptions, parent: TraceContext | null) =>
    tracer.startSpan(name, options, contextOf(parent));
  return {
    exports: true,
    request(method, parent) {
      const span = begun(method, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }, parent);
      return { context: within(span, parent), end: (route, status) => endRequest(span, method, route, status) };
    },
    append(stream, parent) {
      const attributes = { 'db.operation.name': 'append', 'db.collection.name': stream };
      return plain(begun('append', { kind: SpanKind.CLIENT, attributes }, parent), parent);
    },
    fanOut({ topic, partition, offset }, parent) {
      const attributes = {
        'messaging.operation.type': 'process',
        'messaging.destination.name': topic,
        'messaging.destination.partition.id': String(partition),
        'account_webhooks.record.offset': offset,
      };
      return plain(begun(`process ${topic}`, { kind: SpanKind.CONSUMER, attributes }, parent), parent);
    },
    attempt(request) {
      const { trace: parent = null } = request;
      const options = { kind: SpanKind.CLIENT, attributes: targetOf(request), links: linksOf(request) };
      const span = begun('POST', options, parent);
      return { context: within(span, parent), end: (status, error) => endAttempt(span, status, error) };
    },
  };
}

function plain(span: OtelSpan, parent: TraceContext | null): Span {
  const end = (error: string | null) => {
    if (error !== null) failed(span, error);
    span.end();
  };
  return { context: within(span, parent), end };
}

function targetOf({ url, id }: TracedAttempt): Attributes {
  const { hostname, port } = new URL(url);
  return {
    'http.request.method': 'POST',
    'server.address': hostname,
    'server.port': Number(port || 443),
    'account_webhooks.delivery.id': id,
  };
}

/** A link represents the wait between two attempts: a span would have to stay open for hours. */
function linksOf({ trace: parent, previous }: TracedAttempt) {
  if (!parent || !previous) return [];
  return [{ context: { traceId: parent.traceId, spanId: previous, traceFlags: parent.flags } }];
}

function endRequest(span: OtelSpan, method: string, route: string | null, status: number): void {
  if (route !== null) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) failed(span, String(status));
  span.end();
}

function endAttempt(span: OtelSpan, status: number | null, error: string | null): void {
  if (status !== null) span.setAttribute('http.response.status_code', status);
  const refused = status !== null && (status < 200 || status > 299);
  if (error !== null || refused) failed(span, error ?? String(status));
  span.end();
}

function failed(span: OtelSpan, error: string): void {
  span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
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
function loggingExporter(exporter: OTLPTraceExporter, logger: Logger): SpanExporter {
  let fails = false;
  const log = (succeeded: boolean, error: Error | undefined) => {
    if (succeeded !== fails) return;
    fails = !succeeded;
    if (succeeded) logger.info('spans are exported again');
    else logger.warn(reasonOf(error), 'spans can not be exported to OTEL_EXPORTER_OTLP_ENDPOINT: they are dropped');
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
