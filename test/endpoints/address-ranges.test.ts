import { describe, expect, test } from '@jest/globals';
import { parseRanges } from '../../src/endpoints/address-ranges.js';

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
  ...[
    '1.2.3/8',
    '1.2.3.256/8',
    '1.2.3.4/8/8',
    '::/129',
    ':::/8',
    'fe80::1%eth0/64',
    '[::]/8',
    'localhost/8',
    '1.2.3.4/٨',
  ],
])('%j is no range', (text) => {
  expect(parseRanges([text])).toBeNull();
  expect(parseRanges(['10.0.0.0/8', text])).toBeNull();
});
