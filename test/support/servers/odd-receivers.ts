/** Receivers that do what the table in docs/receivers.md lists, by the first column of its rows. */
import { createServer as createTcpServer } from 'node:net';
import type { AttemptFixture } from '../scenes/attempt-fixture.js';
import { makeCertificate } from './certificate-maker.js';
import { certificateFor, testAuthority } from './certificates.js';
import {
  chain,
  DEADLINE_MS,
  demandsCertificate,
  EMPTY,
  early,
  late,
  local,
  lookupOf,
  type OddReceiver,
  OK,
  plain,
  type Start,
  scripted,
  shows,
  writes,
  writesApart,
} from './odd-receiver.js';

/** By what the receivers of a row do. */
type Row = Readonly<Record<string, Start>>;

const DAY_MS = 86_400_000;
const LENGTH_4 = `${OK}content-length: 4\r\n\r\n`;
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
/** Without the end of its last line. */
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n';
const SETTINGS_FRAME = '\0\0\0\x04\0\0\0\0\0';

export const ODD_RECEIVERS: Readonly<Record<string, Row>> = {
  'responds 2xx': {
    'with a body': writes(`${LENGTH_4}good`),
    'by HTTP/1.0': writes('HTTP/1.0 200 OK\r\n\r\ngood', 'end'),
    'without a reason phrase': writes(`HTTP/1.1 200\r\n${EMPTY}`),
    'after 103 Early Hints': writes(`HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${OK}${EMPTY}`),
  },
  'responds 2xx, and its body never comes, is cut short, is too long or is broken': {
    'cut short': writes(`${LENGTH_4}go`, 'end'),
    'closed after the headers, without close_notify': writes(LENGTH_4, 'tcp-end'),
    'a second response': writes(`${OK}${EMPTY}HTTP/1.1 500 No\r\n${EMPTY}`),
    'broken chunks': writes(`${CHUNKED}zz\r\n`),
    'an event stream left open': writes(`${OK}content-type: text/event-stream\r\n\r\n: hello\n\n`),
    'one that has not come at the deadline': late(writes(LENGTH_4)),
  },
  'responds 204 with a `Content-Length` or a body': {
    'a body': writes('HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\n"ok"'),
    chunks: writes('HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'),
  },
  'sends `100 Continue` unasked, then 2xx': {
    together: writes(`HTTP/1.1 100 Continue\r\n\r\n${OK}${EMPTY}`),
    'after each other': writesApart('HTTP/1.1 100 Continue\r\n\r\n', `${OK}${EMPTY}`),
    'with headers': writesApart('HTTP/1.1 100 Continue\r\ndate: now\r\n\r\n', `${OK}${EMPTY}`),
  },
  'responds 2xx with up to 64 KiB of headers': {
    '60 KiB': writes(`${OK}x: ${'y'.repeat(60 * 1_024)}\r\n${EMPTY}`),
  },
  'responds 2xx, and what follows the status line is not valid HTTP': {
    'a header with a NUL': writes(`${OK}x: a\0b\r\n${EMPTY}`),
    'a folded header': writes(`${OK}x: a\r\n b\r\n${EMPTY}`),
    'lines that end with LF': writes('HTTP/1.1 200 OK\ncontent-length: 0\n\n'),
    'a length that is no number': writes(`${OK}content-length: four\r\n\r\ngood`),
    'after an informational response': writes(`HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${OK}no colon here\r\n\r\n`),
    'after one with 1.1 KB of links': writes(
      `HTTP/1.1 103 Early Hints\r\n${'link: a\r\n'.repeat(125)}\r\n${OK}no colon here\r\n\r\n`,
    ),
    'after one in two parts': writesApart(`${HINTS}\r`, `\n${OK}no colon here\r\n\r\n`),
    'more than 64 KiB of headers': writes(`${OK}x: ${'y'.repeat(65_600)}\r\n${EMPTY}`),
  },
  'responds 2xx, and its headers do not end': {
    'at the deadline': late(writes(`${OK}x: y\r\n`)),
    reset: writes(`${OK}x: y\r\n`, 'reset'),
  },
  'responds before it has read the request, and closes the connection': {
    closes: early('end'),
    resets: early('reset'),
  },
  'responds 410': {
    'with a body that is cut short': writes('HTTP/1.1 410 Gone\r\ncontent-length: 9\r\n\r\nhalf', 'end'),
  },
  redirects: {
    elsewhere: writes(`HTTP/1.1 302 Found\r\nlocation: https://localhost/\r\n${EMPTY}`),
    'without a valid header': writes('HTTP/1.1 302 Found\r\nno colon here\r\n\r\n'),
  },
  'responds 401': { '401': writes(`HTTP/1.1 401 Unauthorized\r\n${EMPTY}`) },
  'responds 429 or 503': {
    'with Retry-After': writes(`HTTP/1.1 503 Busy\r\nretry-after: 60\r\n${EMPTY}`),
    'with a header that is not valid': writes('HTTP/1.1 503 Busy\r\nno colon here\r\n\r\n'),
  },
  'responds 5xx': {
    'with a body that is cut short': writes('HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\nhalf', 'end'),
  },
  'responds with a status that HTTP does not have': { '600': writes(`HTTP/1.1 600 Odd\r\n${EMPTY}`) },
  'switches protocols': {
    unasked: writes('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    'to nothing': writes('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
  },
  'does not accept the connection': {
    'its name does not resolve in time': async () => ({
      url: 'https://hooks.shop.com/',
      agent: { lookup: () => {} },
      timeoutMs: DEADLINE_MS,
    }),
  },
  'accepts the connection, and leaves TLS unanswered': {
    'at the deadline': plain((socket) => socket.resume(), DEADLINE_MS),
  },
  'responds too late': {
    never: late(scripted(() => {})),
    'half of a status line': late(writes('HTTP/1.1 200 O')),
    'only 102 Processing': late(writes('HTTP/1.1 102 Processing\r\n\r\n')),
  },
  'has nothing that listens on the port': {
    'nobody listens': async (fixture) => {
      const listener = await fixture.listening(createTcpServer());
      await listener.close();
      return { url: local(listener.port) };
    },
  },
  'closes the connection during the TLS handshake': {
    closes: plain((socket) => socket.once('data', () => socket.destroy())),
    resets: plain((socket) => socket.once('data', () => socket.resetAndDestroy())),
  },
  'closes the connection instead of an answer': {
    closes: scripted((socket) => socket.destroy()),
    'half of a status line': writes('HTTP/1.1 20', 'end'),
    'after an informational response': writes('HTTP/1.1 102 Processing\r\n\r\n', 'end'),
  },
  'presents a certificate that has expired': {
    yesterday: shows(async () => {
      const notAfterDate = new Date(Date.now() - DAY_MS);
      return makeCertificate(await testAuthority(), ['localhost'], { notAfterDate });
    }),
  },
  'presents a certificate that is not valid yet': {
    tomorrow: shows(async () => {
      const notBeforeDate = new Date(Date.now() + DAY_MS);
      return makeCertificate(await testAuthority(), ['localhost'], { notBeforeDate });
    }),
  },
  'presents a certificate for another name': { 'other.shop.com': shows(() => certificateFor(['other.shop.com'])) },
  'presents a self-signed certificate': { itself: shows(() => makeCertificate(undefined, ['localhost'])) },
  'presents a certificate without that of its issuer': {
    'a leaf alone': shows(async () => (await chain()).leaf),
  },
  'presents a chain of an authority that is not trusted': {
    'with its root': shows(async () => {
      const { leaf, issuer, root } = await chain();
      return { ...leaf, cert: leaf.cert + issuer.cert + root.cert };
    }),
    'with the name of one that is': shows(async () => {
      const { leaf, issuer } = await chain('Test CA');
      return { ...leaf, cert: leaf.cert + issuer.cert };
    }),
    'without its root': shows(async () => {
      const { leaf, issuer } = await chain();
      return { ...leaf, cert: leaf.cert + issuer.cert };
    }),
  },
  'speaks no TLS on the port': {
    HTTP: plain((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  },
  'speaks TLS 1.1 or older only': {
    '1.1': shows(certificateFor, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  },
  'has no cipher suite or key exchange in common': {
    'a curve': shows(certificateFor, { minVersion: 'TLSv1.3', ecdhCurve: 'P-521' }),
    'a key exchange': shows(certificateFor, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }),
  },
  'demands a client certificate': {
    'TLS 1.2': demandsCertificate('TLSv1.2'),
    'TLS 1.3': demandsCertificate('TLSv1.3'),
  },
  'speaks HTTP/2 only, and says so in TLS': { 'by ALPN': shows(certificateFor, { ALPNProtocols: ['h2'] }) },
  'speaks HTTP/2 only, and says so afterwards': { 'by a frame': writes(SETTINGS_FRAME) },
  'speaks another protocol in TLS': {
    'HTML without a status line': writes('<html>ok</html>\n', 'end'),
    'a status that is no number': writes(`HTTP/1.1 OK\r\n${EMPTY}`),
    'a status of 0': writes(`HTTP/1.1 000 None\r\n${EMPTY}`),
  },
  'sends more than the limits before it responds': {
    'empty lines': scripted((socket) => socket.write('\r\n'.repeat(100_000))),
  },
  'has an address that no route leads to': {
    'the network says so': async () => ({
      url: 'https://hooks.shop.com/',
      agent: { lookup: lookupOf(Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' })) },
    }),
  },
  'has a host that does not resolve, or resolves to a non-public address': {
    'no such name': async () => ({
      url: 'https://hooks.shop.com/',
      agent: { lookup: lookupOf(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })) },
    }),
    'a private address': async () => ({
      url: 'https://hooks.shop.com/',
      agent: { lookup: lookupOf(null), allowPrivate: false },
    }),
  },
};

/** The receivers of a row. */
export async function oddReceivers(row: string, fixture: AttemptFixture): Promise<OddReceiver[]> {
  const starts = Object.entries(ODD_RECEIVERS[row] ?? {});
  return Promise.all(starts.map(async ([name, start]) => ({ ...(await start(fixture)), name })));
}
