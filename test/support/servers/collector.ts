/** A collector of spans: the needed part of OTLP over HTTP with JSON. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Certificate } from './certificates.js';
import { listen } from './receiver.js';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly traceState?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2 is an error. */
  readonly status: { readonly code: number };
}

export interface Collector {
  readonly url: string;
  readonly requests: readonly { readonly path: string; readonly body: string }[];
  spans(): CollectedSpan[];
  /** The exporter's resource attributes. */
  resource(): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/** 'hang': no response. */
export type CollectorAnswer = number | 'hang';

/** https with a certificate for localhost. */
export async function startCollector(answer: () => CollectorAnswer = () => 200, tls?: Certificate): Promise<Collector> {
  const requests: { path: string; body: string }[] = [];
  const respond: RequestListener = async (request, response) => {
    requests.push({ path: request.url ?? '', body: await text(request) });
    const status = answer();
    if (status === 'hang') return void (await once(response, 'close'));
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  };
  const server = tls ? createTlsServer(tls, respond) : createServer(respond);
  const { port, close } = await listen(server);
  const resources = () => requests.flatMap(({ body }) => (JSON.parse(body) as Exported).resourceSpans);
  const spans = () => resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map(readable)));
  const resource = () => valuesOf(resources()[0]?.resource.attributes ?? []);
  const url = `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${port}`;
  return { url, requests, spans, resource, close };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

type ExportedSpan = Omit<CollectedSpan, 'attributes'> & { readonly attributes: readonly Attribute[] };

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

function readable(span: ExportedSpan): CollectedSpan {
  return { ...span, attributes: valuesOf(span.attributes) };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
