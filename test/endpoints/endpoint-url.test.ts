import fc from 'fast-check';
import { type EndpointRules, parseEndpoint, parseUrl } from '../../src/endpoints/endpoint-url.js';

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

describe('is taken, with this href and host:', () => {
  test.each([
    ['https://hooks.shop.com/in', 'https://hooks.shop.com/in', 'hooks.shop.com'],
    ['HTTPS://Hooks.Shop.COM', 'https://hooks.shop.com/', 'hooks.shop.com'],
    ['https://hooks.shop.com?a=1', 'https://hooks.shop.com/?a=1', 'hooks.shop.com'],
    ['https://hooks.shop.com:443/in', 'https://hooks.shop.com/in', 'hooks.shop.com'],
    ['https://hooks.shop.com:/in', 'https://hooks.shop.com/in', 'hooks.shop.com'],
    ['https://hooks.shop.com:20000/', 'https://hooks.shop.com:20000/', 'hooks.shop.com'],
    ['https://hooks.shop.com:20100/', 'https://hooks.shop.com:20100/', 'hooks.shop.com'],
    ['https://hooks.shop.com/a/../b', 'https://hooks.shop.com/b', 'hooks.shop.com'],
    ['https://hooks.shop.com/@me?to=a@b', 'https://hooks.shop.com/@me?to=a@b', 'hooks.shop.com'],
    ['https://hooks.shop.com/a%20b', 'https://hooks.shop.com/a%20b', 'hooks.shop.com'],
    ['https://bücher.com/ä', 'https://xn--bcher-kva.com/%C3%A4', 'xn--bcher-kva.com'],
    ['https://ⓗooks.shop.com/', 'https://hooks.shop.com/', 'hooks.shop.com'],
    ['https://my_host.shop.com/', 'https://my_host.shop.com/', 'my_host.shop.com'],
    ['https://notlocalhost.com/', 'https://notlocalhost.com/', 'notlocalhost.com'],
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

describe('is refused, with private endpoints allowed as well:', () => {
  const CHARACTERS = 'url-characters';
  const BEGIN = 'url-not-https';
  const AUTHORITY = 'host-invalid';
  test.each<[string, string, object?]>([
    // not https, or not ^https://[^/?#\]
    ['', BEGIN],
    ['http://hooks.shop.com/', BEGIN],
    ['hooks.shop.com/in', BEGIN],
    ['https:hooks.shop.com', BEGIN],
    ['https://', BEGIN],
    ['https:///hooks.shop.com', BEGIN],
    ['https://?hooks.shop.com', BEGIN],
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
    ['https://hooks.shop.com/\x7f', CHARACTERS],
    ['https://hooks.shop.com/\u2028', CHARACTERS],
    ['\ufeffhttps://hooks.shop.com/', CHARACTERS],
    ['https://hooks.shop.com/\ud800', CHARACTERS],
    // userinfo
    ['https://user:password@hooks.shop.com/', 'url-user'],
    ['https://@hooks.shop.com/', 'url-user'],
    ['https://hooks.shop.com@10.0.0.1/', 'url-user'],
    // fragment
    ['https://hooks.shop.com/#top', 'url-fragment'],
    ['https://hooks.shop.com#', 'url-fragment'],
    // ports
    ['https://hooks.shop.com:80/', 'port-refused', { port: 80 }],
    ['https://hooks.shop.com:444/', 'port-refused', { port: 444 }],
    ['https://hooks.shop.com:19999/', 'port-refused', { port: 19999 }],
    ['https://hooks.shop.com:20101/', 'port-refused', { port: 20101 }],
    ['https://hooks.shop.com:65536/', 'url-invalid'],
    // trailing dot, an IPv4 address' too
    ['https://hooks.shop.com./', 'host-invalid'],
    ['https://hooks.shop.com.:8443/', 'host-invalid'],
    ['https://hooks.shop.com．/', 'host-invalid'],
    ['https://hooks.shop.com｡/', 'host-invalid'],
    ['https://localhost./', 'host-invalid'],
    ['https://127.0.0.1./', 'host-invalid'],
    ['https://127.0.0.1。/', 'host-invalid'],
    // lengths and labels
    [`https://${label(64)}.com/`, 'host-invalid'],
    [`https://www.${label(64)}/`, 'host-invalid'],
    [`https://a${HOST_253}/`, 'host-invalid'],
    // before it is encoded, which takes a time that grows with the square of its length
    [`https://${'汉'.repeat(513)}.com/`, 'host-invalid'],
    [PREFIX.padEnd(2049, 'a'), 'url-too-long', { limit: 2048 }],
    [`${PREFIX}${'汉'.repeat(300)}`, 'url-too-long', { limit: 2048 }],
    // what turns the direction of text on an auditor's terminal
    [`${PREFIX}\u202egpj.exe`, CHARACTERS],
    [`${PREFIX}\u2066a\u2069`, CHARACTERS],
    ['https://hooks..shop.com/', 'host-invalid'],
    ['https://.shop.com/', 'host-invalid'],
    ['https://*.shop.com/', 'host-invalid'],
    ['https://a,b.shop.com/', 'host-invalid'],
    // what would be decoded or dropped from the host
    ['https://hooks%2eshop.com/', AUTHORITY],
    ['https://127.0.0.1%2e/', AUTHORITY],
    ['https://hoo\u00adks.shop.com/', AUTHORITY],
    ['https://hoo\u200bks.shop.com/', AUTHORITY],
    // not hosts at all
    ['https://[fe80::1%25eth0]/', AUTHORITY],
    ['https://256.1.1.1/', 'url-invalid'],
    ['https://hooks.shop.1/', 'url-invalid'],
    ['https://ho<oks.shop.com/', 'url-invalid'],
  ])('%j', (raw, code, ...[params]) => {
    const problem = { code, ...(params && { params }) };
    expect(parseEndpoint(raw, STRICT)).toEqual({ ok: false, problem });
    expect(parseEndpoint(raw, PRIVATE)).toEqual({ ok: false, problem });
  });
});

describe('is refused, but for allowPrivate:', () => {
  const LITERAL = 'host-address';
  test.each<[string, string, string, object?]>([
    // IP literals in every spelling that new URL rewrites
    ['https://127.0.0.1/', LITERAL, '127.0.0.1'],
    ['https://8.8.8.8/', LITERAL, '8.8.8.8'],
    ['https://2130706433/', LITERAL, '127.0.0.1'],
    ['https://0X7F.1/', LITERAL, '127.0.0.1'],
    ['https://017700000001/', LITERAL, '127.0.0.1'],
    ['https://0300.0250.0.1/', LITERAL, '192.168.0.1'],
    ['https://0/', LITERAL, '0.0.0.0'],
    ['https://１２７.0.0.1/', LITERAL, '127.0.0.1'],
    ['https://①②⑦.0.0.1/', LITERAL, '127.0.0.1'],
    ['https://127。0。0。1/', LITERAL, '127.0.0.1'],
    ['https://[::1]/', LITERAL, '::1'],
    ['https://[2606:4700::1111]:8443/', LITERAL, '2606:4700::1111'],
    ['https://[0:0:0:0:0:0:0:1]/', LITERAL, '::1'],
    ['https://[::ffff:127.0.0.1]/', LITERAL, '::ffff:7f00:1'],
    // single labels
    ['https://intranet/', 'host-invalid', 'intranet'],
    ['https://kafka:8443/', 'host-invalid', 'kafka'],
    // reserved names
    ['https://localhost/', 'host-reserved', 'localhost', { suffix: 'localhost' }],
    ['https://LOCALHOST:8443/', 'host-reserved', 'localhost', { suffix: 'localhost' }],
    ['https://ⓛocalhost/', 'host-reserved', 'localhost', { suffix: 'localhost' }],
    ['https://a.localhost/', 'host-reserved', 'a.localhost', { suffix: 'localhost' }],
    ['https://metadata.google.internal/', 'host-reserved', 'metadata.google.internal', { suffix: 'internal' }],
    ['https://host.localdomain/', 'host-reserved', 'host.localdomain', { suffix: 'localdomain' }],
    ['https://nas.home.arpa/', 'host-reserved', 'nas.home.arpa', { suffix: 'home.arpa' }],
    ['https://1.2.0.192.in-addr.arpa/', 'host-reserved', '1.2.0.192.in-addr.arpa', { suffix: 'in-addr.arpa' }],
    ['https://8.b.d.0.1.0.0.2.IP6.ARPA/', 'host-reserved', '8.b.d.0.1.0.0.2.ip6.arpa', { suffix: 'ip6.arpa' }],
    ['https://in-addr.arpa/', 'host-reserved', 'in-addr.arpa', { suffix: 'in-addr.arpa' }],
    ['https://abc.onion/', 'host-reserved', 'abc.onion', { suffix: 'onion' }],
    ['https://shop.test/', 'host-reserved', 'shop.test', { suffix: 'test' }],
    ['https://shop.invalid/', 'host-reserved', 'shop.invalid', { suffix: 'invalid' }],
    ['https://shop.example/', 'host-reserved', 'shop.example', { suffix: 'example' }],
  ])('%s', (raw, code, host, ...[params]) => {
    expect(parseEndpoint(raw, STRICT)).toEqual({ ok: false, problem: { code, ...(params && { params }) } });
    const { href, hostname } = new URL(raw);
    expect(parseEndpoint(raw, PRIVATE)).toEqual({ ok: true, href });
    expect(hostname.replace(/^\[|\]$/g, '')).toBe(host);
  });
});

test.each(['https://', 'https:', 'https:\\\\', ' https:///\t\n/'])(
  'a host of 513 letters is not parsed: %j',
  (before) => {
    expect(parseUrl(`${before}${'a'.repeat(500)}/`)).not.toBeNull();
    expect(parseUrl(`${before}${'汉'.repeat(513)}/`)).toBeNull();
  },
);

test('443 itself is refused where it is not on the list', () => {
  const rules = { allowedPorts: [{ from: 8443, to: 8443 }], allowPrivate: false };
  expect(parseEndpoint('https://hooks.shop.com/', rules)).toMatchObject({ ok: false });
});

test('whatever is taken is https, without userinfo and fragment, and its href is taken again as itself', () => {
  const hostile = ['https://', 'a.com', '.', '/', ':8443', '@', '#', '%2e', '\\', '\t', '127.1', '。', 'é'];
  const parts = fc.constantFrom(...hostile);
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
