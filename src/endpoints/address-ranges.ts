import { BlockList, isIP } from 'node:net';

/** Networks in CIDR notation, of IPv4 and IPv6. */
export interface AddressRanges {
  /** False for anything but an address. An IPv6 address with an embedded IPv4 address is in the ranges of both. */
  has(address: string): boolean;
}

type Family = 'ipv4' | 'ipv6';

interface Range {
  readonly network: string;
  readonly prefix: number;
  readonly family: Family;
}

const BITS = { ipv4: 32, ipv6: 128 } as const;
/** Bits of an IPv6 address before the embedded IPv4 address. */
const BEFORE_IPV4 = 96;

/** IPv6 ranges whose last 32 bits are an IPv4 address: mapped, compatible, translated (NAT64). */
const WITH_IPV4 = listOf(
  'ipv6',
  ['::ffff:0:0', '::', '64:ff9b::'].map((network) => ({ network, prefix: BEFORE_IPV4, family: 'ipv6' })),
);

/** @returns null if one of the texts is not a network like `203.0.113.0/24` or `2001:db8::/32` */
export function parseRanges(texts: readonly string[]): AddressRanges | null {
  const ranges = texts.map(parsed);
  if (ranges.some((range) => range === null)) return null;
  // One list per family: in a common list ::/0 would contain every IPv4 address, treated as a mapped one.
  const lists = { ipv4: listOf('ipv4', ranges), ipv6: listOf('ipv6', ranges) };
  return { has: (address) => forms(address).some(([form, family]) => lists[family].check(form, family)) };
}

function parsed(text: string): Range | null {
  const [, network = '', digits = ''] = /^([0-9A-Fa-f.:]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const family = familyOf(network);
  const prefix = Number(digits);
  if (family === null || prefix > BITS[family]) return null;
  const ipv4 = family === 'ipv6' && prefix >= BEFORE_IPV4 && mappedIpv4(network);
  return ipv4 ? { network: ipv4, prefix: prefix - BEFORE_IPV4, family: 'ipv4' } : { network, prefix, family };
}

function listOf(family: Family, ranges: readonly (Range | null)[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) if (range?.family === family) list.addSubnet(range.network, range.prefix, family);
  return list;
}

/** The address itself, and the embedded IPv4 address. */
function forms(given: string): [address: string, family: Family][] {
  // With a zone (fe80::1%eth0) BlockList returns false whatever its ranges.
  const address = given.replace(/%.*$/, '');
  const family = familyOf(address);
  if (family === null) return [];
  if (family === 'ipv4' || !WITH_IPV4.check(address, 'ipv6')) return [[address, family]];
  return [
    [address, 'ipv6'],
    [lastAsIpv4(address), 'ipv4'],
  ];
}

function familyOf(address: string): Family | null {
  switch (isIP(address)) {
    case 4:
      return 'ipv4';
    case 6:
      return 'ipv6';
    default:
      return null;
  }
}

function mappedIpv4(address: string): string | null {
  return /^\[::ffff:/.test(normal(address)) ? lastAsIpv4(address) : null;
}

/** The last 32 bits of an IPv6 address without a zone. */
export function lastAsIpv4(address: string): string {
  const groups = normal(address).slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The URL parser's form: in brackets, lower case, no dots, the longest run of zeros as `::`. */
function normal(address: string): string {
  return new URL(`https://[${address}]`).hostname;
}
