import fc from 'fast-check';
import { type EndpointRules, parseEndpoint } from '../../src/endpoints/endpoint-url.js';

const ALLOWED_PORTS = [
  { from: 443, to: 443 },
  { from: 8443, to: 8443 },
  { from: 20000, to: 20100 },
];
const STRICT: EndpointRules = { allowedPorts: ALLOWED_PORTS, allowPrivate: false };
const PRIVATE: EndpointRules = { allowedPorts: ALLOWED_PORTS, allowPrivate: true };

const PREFIX = 'https://hooks.shop.com/';
const label = (length: number) => 'a'.repeat(length);
const HOST_253 = `${label(63)}.${label(63)}.${label(63)}.${label(57)}.com`;

test('a host of other letters is taken however often: what Node compiles meanwhile answers as before', () => {
  const raw = 'https://bücher.com/ä';
  for (let n = 0; n < 20_000; n += 1) parseEndpoint(raw, STRICT);
  expect(parseEndpoint(raw, STRICT)).toMatchObject({ ok: true });
});

describe('taken', () => {
  test.each([
    ['https://hooks.shop.com/in', 'https://hooks.shop.com/in', 'hooks.shop.com'],
    ['HTTPS://Hooks.Shop.COM', 'https://hooks.shop.com/', 'hooks.shop.com'],
    ['https://hooks.shop.com?a=1', 'https://hooks.shop.com/?a=1', 'hooks.shop.com'],
    ['https://hooks.shop.com:443/in', 'https://hooks.shop.com/in', 'hooks.shop.com'],
    ['https://hooks.shop.com:/in', 'https://hooks.shop.com/in', 'hooks.shop.com'],
    ['https://hooks.shop.com:8443/in', 'https://hooks.shop.com:8443/in', 'hooks.shop.com'],
    ['https://hooks.shop.com:20000/', 'https://hooks.shop.com:20000/', 'hooks.shop.com'],
    ['https://hooks.shop.com:20100/', 'https://hooks.shop.com:20100/', 'hooks.shop.com'],
    ['https://hooks.shop.com/a/../b', 'https://hooks.shop.com/b', 'hooks.shop.com'],
    ['https://hooks.shop.com/@me?to=a@b', 'https://hooks.shop.com/@me?to=a@b', 'hooks.shop.com'],
    ['https://hooks.shop.com/a%20b', 'https://hooks.shop.com/a%20b', 'hooks.shop.com'],
    ['https://bücher.com/ä', 'https://xn--bcher-kva.com/%C3%A4', 'xn--bcher-kva.com'],
    ['https://ⓗooks.shop.com/', 'https://hooks.shop.com/', 'hooks.shop.com'],
    ['https://my_host.shop.com/', 'https://my_host.shop.com/', 'my_host.shop.com'],
    ['https://example.com/', 'https://example.com/', 'example.com'],
    ['https://notlocalhost.com/', 'https://notlocalhost.com/', 'notlocalhost.com'],
    ['https://mylocal.internals/', 'https://mylocal.internals/', 'mylocal.internals'],
    ['https://arpa.home/', 'https://arpa.home/', 'arpa.home'],
    [`https://${label(63)}.com/`, `https://${label(63)}.com/`, `${label(63)}.com`],
    [`https://${HOST_253}/`, `https://${HOST_253}/`, HOST_253],
    [PREFIX.padEnd(2048, 'a'), PREFIX.padEnd(2048, 'a'), 'hooks.shop.com'],
  ])('%s', (raw, href, host) => {
    expect(parseEndpoint(raw, STRICT)).toEqual({ ok: true, href });
    expect(parseEndpoint(raw, PRIVATE)).toEqual({ ok: true, href });
    expect(new URL(href).hostname).toBe(host);
  });
});

describe('refused, with private endpoints allowed as well', () => {
  const CHARACTERS = 'spaces, control characters or backslashes';
  const BEGIN = 'must begin with https://';
  const AUTHORITY = 'percent signs or invisible characters';
  test.each([
    // not https, or not ^https://[^/?#\]
    ['', BEGIN],
    ['http://hooks.shop.com/', BEGIN],
    ['httpss://hooks.shop.com/', BEGIN],
    ['ftp://hooks.shop.com/', BEGIN],
    ['hooks.shop.com/in', BEGIN],
    ['//hooks.shop.com/in', BEGIN],
    ['https:hooks.shop.com', BEGIN],
    ['https:/hooks.shop.com', BEGIN],
    ['https://', BEGIN],
    ['https:///hooks.shop.com', BEGIN],
    ['https://?hooks.shop.com', BEGIN],
    ['https://#hooks.shop.com', BEGIN],
    ['javascript:alert(1)//https://hooks.shop.com', BEGIN],
    // characters that new URL drops or rewrites
    ['https://\\hooks.shop.com', CHARACTERS],
    ['https:\\\\hooks.shop.com', CHARACTERS],
    ['https://hooks.shop.com\\@10.0.0.1/', CHARACTERS],
    [' https://hooks.shop.com/', CHARACTERS],
    ['https://hooks.shop.com/ ', CHARACTERS],
    ['https://hooks.shop.com/a b', CHARACTERS],
    ['https://hooks.shop.com/\t', CHARACTERS],
    ['ht\ntps://hooks.shop.com/', CHARACTERS],
    ['https://hooks.\r\nshop.com/', CHARACTERS],
    ['https://hooks.shop.com/\0', CHARACTERS],
    ['https://hooks.shop.com/\x1f', CHARACTERS],
    ['https://hooks.shop.com/\x7f', CHARACTERS],
    ['https://hooks.shop.com/\x85', CHARACTERS],
    ['https://hooks.shop.com/\u00a0', CHARACTERS],
    ['https://hooks.shop.com/\u2028', CHARACTERS],
    ['https://hooks.shop.com/\u3000', CHARACTERS],
    ['\ufeffhttps://hooks.shop.com/', CHARACTERS],
    ['https://hooks.shop.com/\ud800', CHARACTERS],
    // userinfo
    ['https://user:password@hooks.shop.com/', 'user name'],
    ['https://user@hooks.shop.com/', 'user name'],
    ['https://:@hooks.shop.com/', 'user name'],
    ['https://@hooks.shop.com/', 'user name'],
    ['https://hooks.shop.com@10.0.0.1/', 'user name'],
    // fragment
    ['https://hooks.shop.com/#top', 'fragment'],
    ['https://hooks.shop.com/in#', 'fragment'],
    ['https://hooks.shop.com#', 'fragment'],
    // ports
    ['https://hooks.shop.com:80/', 'port 80 '],
    ['https://hooks.shop.com:0/', 'port 0 '],
    ['https://hooks.shop.com:442/', 'port 442 '],
    ['https://hooks.shop.com:444/', 'port 444 '],
    ['https://hooks.shop.com:8442/', 'port 8442 '],
    ['https://hooks.shop.com:19999/', 'port 19999 '],
    ['https://hooks.shop.com:20101/', 'port 20101 '],
    ['https://hooks.shop.com:65536/', 'not a valid URL'],
    ['https://hooks.shop.com:8443a/', 'not a valid URL'],
    // trailing dot, an IPv4 address' too
    ['https://hooks.shop.com./', 'end in a dot'],
    ['https://hooks.shop.com.:8443/', 'end in a dot'],
    ['https://hooks.shop.com。/', 'end in a dot'],
    ['https://hooks.shop.com．/', 'end in a dot'],
    ['https://hooks.shop.com｡/', 'end in a dot'],
    ['https://localhost./', 'end in a dot'],
    ['https://127.0.0.1./', 'end in a dot'],
    ['https://127.0.0.1。/', 'end in a dot'],
    // lengths and labels
    [`https://${label(64)}.com/`, '1 to 63'],
    [`https://www.${label(64)}/`, '1 to 63'],
    [`https://a${HOST_253}/`, 'at most 253'],
    [PREFIX.padEnd(2049, 'a'), 'at most 2048'],
    [`${PREFIX}${'汉'.repeat(300)}`, 'at most 2048'],
    // what turns the direction of text on an auditor's terminal
    [`${PREFIX}\u202egpj.exe`, 'text direction'],
    [`${PREFIX}\u2066a\u2069`, 'text direction'],
    [`${PREFIX}?\u200f`, 'text direction'],
    ['https://hooks..shop.com/', '1 to 63'],
    ['https://.shop.com/', '1 to 63'],
    ['https://*.shop.com/', '1 to 63'],
    ['https://a,b.shop.com/', '1 to 63'],
    // what would be decoded or dropped from the host
    ['https://hooks%2eshop.com/', AUTHORITY],
    ['https://127.0.0.1%2e/', AUTHORITY],
    ['https://hoo\u00adks.shop.com/', AUTHORITY],
    ['https://hoo\u200bks.shop.com/', AUTHORITY],
    // not hosts at all
    ['https://[fe80::1%25eth0]/', AUTHORITY],
    ['https://[::1/', 'not a valid URL'],
    ['https://256.1.1.1/', 'not a valid URL'],
    ['https://1.2.3.4.5/', 'not a valid URL'],
    ['https://hooks.shop.1/', 'not a valid URL'],
    ['https://ho<oks.shop.com/', 'not a valid URL'],
  ])('%j', (raw, message) => {
    expect(parseEndpoint(raw, STRICT)).toEqual({ ok: false, message: expect.stringContaining(message) });
    expect(parseEndpoint(raw, PRIVATE)).toEqual({ ok: false, message: expect.stringContaining(message) });
  });
});

describe('refused, but for allowPrivate', () => {
  const LITERAL = 'a name, not an IP address';
  test.each([
    // IP literals in every spelling that new URL rewrites
    ['https://127.0.0.1/', LITERAL, '127.0.0.1'],
    ['https://8.8.8.8/', LITERAL, '8.8.8.8'],
    ['https://2130706433/', LITERAL, '127.0.0.1'],
    ['https://0x7f000001/', LITERAL, '127.0.0.1'],
    ['https://0X7F.1/', LITERAL, '127.0.0.1'],
    ['https://017700000001/', LITERAL, '127.0.0.1'],
    ['https://0300.0250.0.1/', LITERAL, '192.168.0.1'],
    ['https://127.1/', LITERAL, '127.0.0.1'],
    ['https://0/', LITERAL, '0.0.0.0'],
    ['https://１２７.0.0.1/', LITERAL, '127.0.0.1'],
    ['https://①②⑦.0.0.1/', LITERAL, '127.0.0.1'],
    ['https://127。0。0。1/', LITERAL, '127.0.0.1'],
    ['https://[::1]/', LITERAL, '::1'],
    ['https://[2606:4700::1111]:8443/', LITERAL, '2606:4700::1111'],
    ['https://[0:0:0:0:0:0:0:1]/', LITERAL, '::1'],
    ['https://[::ffff:127.0.0.1]/', LITERAL, '::ffff:7f00:1'],
    // single labels
    ['https://intranet/', 'full domain name', 'intranet'],
    ['https://kafka:8443/', 'full domain name', 'kafka'],
    // reserved names
    ['https://localhost/', 'reserved name (localhost)', 'localhost'],
    ['https://LOCALHOST:8443/', 'reserved name (localhost)', 'localhost'],
    ['https://ⓛocalhost/', 'reserved name (localhost)', 'localhost'],
    ['https://a.localhost/', 'reserved name (localhost)', 'a.localhost'],
    ['https://printer.local/', 'reserved name (local)', 'printer.local'],
    ['https://metadata.google.internal/', 'reserved name (internal)', 'metadata.google.internal'],
    ['https://host.localdomain/', 'reserved name (localdomain)', 'host.localdomain'],
    ['https://nas.home.arpa/', 'reserved name (home.arpa)', 'nas.home.arpa'],
    ['https://home.arpa/', 'reserved name (home.arpa)', 'home.arpa'],
    ['https://abc.onion/', 'reserved name (onion)', 'abc.onion'],
    ['https://shop.test/', 'reserved name (test)', 'shop.test'],
    ['https://shop.invalid/', 'reserved name (invalid)', 'shop.invalid'],
    ['https://shop.example/', 'reserved name (example)', 'shop.example'],
  ])('%s', (raw, message, host) => {
    expect(parseEndpoint(raw, STRICT)).toEqual({ ok: false, message: expect.stringContaining(message) });
    const { href, hostname } = new URL(raw);
    expect(parseEndpoint(raw, PRIVATE)).toEqual({ ok: true, href });
    expect(hostname.replace(/^\[|\]$/g, '')).toBe(host);
  });
});

test('443 itself is refused where it is not on the list', () => {
  const rules = { allowedPorts: [{ from: 8443, to: 8443 }], allowPrivate: false };
  expect(parseEndpoint('https://hooks.shop.com/', rules)).toMatchObject({ ok: false });
});

test('whatever is taken is https, without userinfo and fragment, and its href is taken again as itself', () => {
  const parts = fc.constantFrom(
    'https://',
    'a.com',
    '.',
    '/',
    ':8443',
    '@',
    '#',
    '%2e',
    '\\',
    '\t',
    '127.1',
    '。',
    'é',
  );
  fc.assert(
    fc.property(fc.oneof(fc.webUrl(), fc.array(parts, { maxLength: 8 })), (input) => {
      const parsed = parseEndpoint([input].flat().join(''), PRIVATE);
      if (!parsed.ok) return;
      const url = new URL(parsed.href);
      expect([url.protocol, url.username, url.password, url.hash]).toEqual(['https:', '', '', '']);
      expect(parseEndpoint(parsed.href, PRIVATE)).toEqual(parsed);
    }),
    { examples: [[['https://', 'a.com', '/', 'é']]] },
  );
});
