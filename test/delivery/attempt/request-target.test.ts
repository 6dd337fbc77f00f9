/** The request target as the receiver reads it from the wire. */
import { createServer } from 'node:tls';
import fc from 'fast-check';
import type { EndpointAgent } from '../../../src/endpoints/endpoint-agent.js';
import { parseEndpoint } from '../../../src/endpoints/endpoint-url.js';
import { AttemptFixture, OK, send } from '../../support/scenes/attempt-fixture.js';
import { certificateFor } from '../../support/servers/certificates.js';

/** RFC 9112 3.2.1, RFC 3986 3.3 and 3.4. */
const PCHAR = "(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})";
const ORIGIN_FORM = new RegExp(`^/(?:${PCHAR}|/)*(?:\\?(?:${PCHAR}|[/?])*)?$`);

const fixture = new AttemptFixture();
let origin: string;
let agent: EndpointAgent;
let received: string;

beforeEach(async () => {
  const server = createServer(await certificateFor(), (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received = /^POST (.*) HTTP\/1\.1\r\n/.exec(chunk.toString('latin1'))?.[1] ?? '';
      socket.write(OK);
    });
  });
  origin = `https://localhost:${(await fixture.listening(server)).port}`;
  agent = await fixture.agent();
});

afterEach(() => fixture.close());

/** Null if the URL is refused. */
async function sentFor(raw: string): Promise<{ target: string; href: string } | null> {
  const allowedPorts = [{ from: 0, to: 65_535 }];
  const parsed = parseEndpoint(origin + raw, { allowedPorts, allowPrivate: true });
  if (!parsed.ok) return null;
  expect(await send(agent, parsed.href)).toMatchObject({ kind: 'delivered' });
  return { target: received, href: parsed.href };
}

test.each([
  ['/a', '/a'],
  ['/{id}|^`[x]', '/%7Bid%7D%7C%5E%60%5Bx%5D'],
  ['/?a[]={b}|^`', '/?a%5B%5D=%7Bb%7D%7C%5E%60'],
  ['/100%?off=5%', '/100%25?off=5%25'],
  ['/%?%zz%4', '/%25?%25zz%254'],
  ['/%%41', '/%25%41'],
  ['/%7Bid%7d%20?q=%5B%5d%FF', '/%7Bid%7d%20?q=%5B%5d%FF'],
  ['/?', '/?'],
  ['/ä?ö', '/%C3%A4?%C3%B6'],
  ['/"<>?"<>\'', '/%22%3C%3E?%22%3C%3E%27'],
  ["/-._~!$&'()*+,;=:@/?-._~!$&()*+,;=:@/?", "/-._~!$&'()*+,;=:@/?-._~!$&()*+,;=:@/?"],
  ['/a/./b/%2e%2E/c/..', '/a/'],
])('%s is sent as %s', async (raw, target) => {
  expect(await sentFor(raw)).toMatchObject({ target });
});

test('every accepted URL is sent as a valid target, which decodes to the path and query that it has', async () => {
  const unit = fc.oneof(
    fc.constantFrom(...'{}|^`[]"<>%\'/?.&=+;:@'),
    fc.constantFrom('%7B', '%7d', '%25', '%ff', '%4', '%zz', 'é', '\u{1F4B8}'),
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
  );
  const path = fc.array(unit, { maxLength: 12 }).map((units) => `/${units.join('')}`);
  await fc.assert(
    fc.asyncProperty(path, async (raw) => {
      const sent = await sentFor(raw);
      if (sent === null) return;
      expect(sent.target).toMatch(ORIGIN_FORM);
      const { pathname, search } = new URL(sent.href);
      const [targetPath = '', ...query] = sent.target.split('?');
      expect(decoded(targetPath)).toBe(decoded(pathname));
      expect(decoded(query.join('?'))).toBe(decoded(search.slice(1)));
    }),
    { numRuns: 300 },
  );
});

/** Bytes as Latin-1; a percent sign that encodes nothing stands for itself. */
function decoded(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
