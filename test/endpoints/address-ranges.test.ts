import { isPublicAddress, parseRanges } from '../../src/endpoints/address-ranges.js';

/** Of the addresses, those that are in the ranges. */
function within(ranges: string, addresses: readonly string[]): string[] {
  const parsed = parseRanges(ranges.split(','));
  if (!parsed) throw new Error(`${ranges} were not taken`);
  return addresses.filter(parsed.has);
}

describe('an address is in', () => {
  test.each([
    ['203.0.113.0/24', ['203.0.113.0', '203.0.113.255'], ['203.0.112.255', '203.0.114.0', '::', 'fe80::1']],
    ['203.0.113.7/32', ['203.0.113.7'], ['203.0.113.6', '203.0.113.8']],
    // Bits behind the prefix are passed over.
    ['203.0.113.7/24', ['203.0.113.0', '203.0.113.8'], ['203.0.114.7']],
    ['0.0.0.0/0', ['0.0.0.0', '8.8.8.8', '255.255.255.255', '::ffff:8.8.8.8'], ['2001:db8::1', '2606:4700::1111']],
    ['128.0.0.0/1', ['128.0.0.0', '255.255.255.255'], ['127.255.255.255']],
    ['2001:db8::/32', ['2001:db8::', '2001:DB8:ffff:ffff::1'], ['2001:db9::', '203.0.113.1']],
    ['2001:db8::7/128', ['2001:db8::7', '2001:db8:0:0:0:0:0:7'], ['2001:db8::8']],
    ['::/0', ['::', '2606:4700::1111', 'fe80::1%eth0'], ['8.8.8.8']],
    ['10.0.0.0/8,fd00::/8', ['10.1.2.3', 'fd12::1'], ['11.0.0.0', 'fe00::1']],
  ])('%s', (ranges, inside, outside) => {
    expect(within(ranges, [...inside, ...outside])).toEqual(inside);
  });

  test('a range of IPv4 in each form of IPv6 that has it inside', () => {
    const inside = ['::ffff:203.0.113.7', '::ffff:cb00:7107', '0:0:0:0:0:FFFF:203.0.113.7', '::203.0.113.7'];
    const translated = ['64:ff9b::203.0.113.7', '64:ff9b::cb00:7107'];
    expect(within('203.0.113.0/24', [...inside, ...translated])).toEqual([...inside, ...translated]);
    expect(within('203.0.113.0/24', ['::ffff:203.0.112.7', '64:ff9b::203.0.112.7', '2001:db8::203.0.113.7'])).toEqual(
      [],
    );
  });

  test('a range of IPv4 that is written as IPv6', () => {
    const addresses = ['203.0.113.7', '::ffff:203.0.113.7', '203.0.112.7'];
    expect(within('::ffff:203.0.113.0/120', addresses)).toEqual(addresses.slice(0, 2));
    expect(within('::ffff:0:0/96', addresses)).toEqual(addresses);
  });

  test('no range, where it is none', () => {
    expect(within('0.0.0.0/0,::/0', ['', 'localhost', '1.2.3', '1.2.3.4.5', ':::', '010.0.0.1'])).toEqual([]);
  });
});

test.each([
  ...['', '/', '/8', '1.2.3.4', '1.2.3.4/', '1.2.3.4/33', '1.2.3.4/-1', '1.2.3.4/08', '1.2.3.4/8 ', ' 1.2.3.4/8'],
  ...['1.2.3/8', '1.2.3.256/8', '1.2.3.4/8/8', '::/129', ':::/8', 'fe80::1%eth0/64', '[::]/8', '1.2.3.4/٨'],
])('%j is no range', (text) => {
  expect(parseRanges([text])).toBeNull();
  expect(parseRanges(['10.0.0.0/8', text])).toBeNull();
});

/** Each range: the last address before it, its first, its last, the first after it. null: also denied, or none. */
const IPV4_RANGES: [string, string | null, string, string, string | null][] = [
  ['0/8', null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['10/8', '9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.64/10', '100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['127/8', '126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.254/16', '169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.16/12', '172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['192.0.0/24', '191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.2/24', '192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.31.196/24', '192.31.195.255', '192.31.196.0', '192.31.196.255', '192.31.197.0'],
  ['192.52.193/24', '192.52.192.255', '192.52.193.0', '192.52.193.255', '192.52.194.0'],
  ['192.88.99/24', '192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.168/16', '192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['192.175.48/24', '192.175.47.255', '192.175.48.0', '192.175.48.255', '192.175.49.0'],
  ['198.18/15', '198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.100/24', '198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.113/24', '203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['224/4', '223.255.255.255', '224.0.0.0', '239.255.255.255', null],
  ['240/4', null, '240.0.0.0', '255.255.255.255', null],
];

const ALL_ONES = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff';
// biome-ignore format: one range a line
const IPV6_RANGES: [string, string | null, string, string, string | null][] = [
  ['2001::/23', `2000:${ALL_ONES}`, '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::/32', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2002::/16', `2001:${ALL_ONES}`, '2002::', `2002:${ALL_ONES}`, '2003::'],
  ['2620:4f:8000::/48', '2620:4f:7fff:ffff:ffff:ffff:ffff:ffff', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', '2620:4f:8001::'],
  ['3fff::/20', `3ffe:${ALL_ONES}`, '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
];

test.each([...IPV4_RANGES, ...IPV6_RANGES])('%s is denied from its first to its last address', (...range) => {
  const [, before, first, last, after] = range;
  expect([first, last].map(isPublicAddress)).toEqual([false, false]);
  for (const outside of [before, after]) {
    if (outside !== null) expect([outside, isPublicAddress(outside)]).toEqual([outside, true]);
  }
});

test.each([...['2000::', '2606:4700:4700::1111', `3fff:${ALL_ONES}`, '1.1.1.1', '8.8.8.8', '93.184.215.14']])(
  '%s is public',
  (address) => expect(isPublicAddress(address)).toBe(true),
);

test.each([
  ['the last before 2000::/3', `1fff:${ALL_ONES}`],
  ['the first after 2000::/3', '4000::'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['discard', '100::1'],
  ['unique local', 'fc00::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['segment routing', '5f00::1'],
  ['public, with a zone', '2606:4700:4700::1111%eth0'],
])('%s (%s) is denied', (_, address) => expect(isPublicAddress(address)).toBe(false));

test.each([
  ['mapped, loopback', '::ffff:127.0.0.1'],
  ['mapped, public', '::ffff:8.8.8.8'],
  ['mapped, in hex', '::ffff:808:808'],
  ['compatible', '::8.8.8.8'],
  ['translated', '::ffff:0:8.8.8.8'],
  ['NAT64, local use', '64:ff9b:1::808:808'],
  ['NAT64, with a zone', '64:ff9b::808:808%eth0'],
  ['NAT64, one bit before its prefix', '64:ff9a:ffff:ffff:ffff:ffff:808:808'],
  ['NAT64, one bit behind its prefix', '64:ff9b::1:808:808'],
  ['6to4', '2002:808:808::1'],
  ['Teredo', '2001:0:808:808::1'],
  ['ISATAP', '2606:4700::5efe:808:808'],
  ['ISATAP, no zeros left out', '2606:4700:1:2:0000:5EFE:0a00:0001'],
  ['dotted, in a public prefix', '2606:4700::8.8.8.8'],
])('IPv4 inside of IPv6 is denied: %s (%s)', (_, address) => expect(isPublicAddress(address)).toBe(false));

test.each(IPV4_RANGES)('%s is denied behind DNS64 too, and only there', (_, before, first, last, after) => {
  for (const inside of [first, last]) expect(spellingsOfDns64(inside).map(isPublicAddress)).toEqual([false, false]);
  for (const outside of [before, after]) {
    if (outside !== null) expect(spellingsOfDns64(outside).map(isPublicAddress)).toEqual([true, true]);
  }
});

/** RFC 6052: the address that DNS64 makes for an IPv6-only host. */
function spellingsOfDns64(ipv4: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return [`64:ff9b::${ipv4}`, `64:ff9b::${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`];
}

test.each([
  ...['', 'localhost', '1.2.3', '1.2.3.4.5', '010.0.0.1', '8.8.8.8 ', '0x08080808', '[2606:4700::1]', '1.2.3.4/8'],
])('what is not an address is denied: %j', (text) => expect(isPublicAddress(text)).toBe(false));
