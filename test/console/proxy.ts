/** Before a service: removes a path, answers with a fault in its place, or changes what it answers. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '../support/servers/receiver.js';

const CHANGED = /^\/(api\/|console\/session$)/;

/** @param path that the service does not see */
export async function startProxy(path = '') {
  const server = createServer((from, to) => {
    const url = from.url?.slice(path.length) ?? '';
    const status = url.startsWith('/api/') ? proxy.fault?.status : undefined;
    if (status) return answer(to, status, { success: false, message: 'refused' });
    if (status === undefined) forward(from, to, proxy.target + url);
  });
  const { port, close } = await listen(server);
  const proxy = {
    url: `http://127.0.0.1:${port}${path}`,
    target: '',
    /** Of the API: status 0 answers never. */
    fault: null as { readonly status: number } | null,
    /** What is made of each body of the API. */
    altered: null as ((body: unknown, asked: URL) => unknown) | null,
    /** Is a proxy only. */
    forget: () => Object.assign(proxy, { fault: null, altered: null }),
    close,
  };

  function forward(from: IncomingMessage, to: ServerResponse, url: string): void {
    // Not 304: what was altered then is not now.
    const { 'if-none-match': _, ...headers } = from.headers;
    const forwarded = request(url, { method: from.method, headers }, async (answered) => {
      const { statusCode = 502 } = answered;
      const asked = new URL(url);
      if (proxy.altered && CHANGED.test(asked.pathname) && statusCode < 300)
        return answer(to, statusCode, proxy.altered(await json(answered), asked), answered.headers);
      to.writeHead(statusCode, answered.headers);
      answered.pipe(to);
    });
    // Neither side waits for the other once that is gone: a page that was closed, a service that ends.
    forwarded.on('error', () => to.destroy());
    to.on('close', () => forwarded.destroy());
    from.pipe(forwarded);
  }

  return proxy;
}

function answer(to: ServerResponse, status: number, body: unknown, headers: IncomingMessage['headers'] = {}): void {
  const bytes = Buffer.from(JSON.stringify(body));
  to.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
}
