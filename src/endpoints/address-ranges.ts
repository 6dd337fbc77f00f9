/** Networks, and the addresses that deliveries may go to. */
import { BlockList, isIP } from 'node:net';

/** Networks in CIDR notation, of IPv4 and IPv6. */
export interface AddressRanges {
  /** False for anything but an address. An IPv6 address with an embedded IPv4 address is in the ranges of both. */
  has(address: string): boolean;
}

type Family = 'ipv4' | 'ipv6';

const BITS = { ipv4: 32, ipv6: 128 } as const;
/** Bits of an IPv6 address before the embedded IPv4 address. */
const BEFORE_IPV4 = 96;

/** IPv6 ranges whose last 32 bits are an IPv4 address: mapped, compatible, translated (NAT64). */
const WITH_IPV4 = new BlockList();
for (const network of ['::ffff:0:0', '::', '64:ff9b::']) WITH_IPV4.addSubnet(network, BEFORE_IPV4, 'ipv6');

/** The IANA special-purpose registries, multicast, and one of Azure's. */
const DENIED = parseRanges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32', // answers inside every Azure virtual machine
  '169.254.0.0/16', // link-local; cloud metadata services
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23', // Teredo (an embedded IPv4 address), benchmarking, ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4: an embedded IPv4 address
  '2620:4f:8000::/48',
  '3fff::/20',
]) as AddressRanges;

/** IANA's global unicast space. It excludes mapped, compatible and translated IPv4. */
const GLOBAL_IPV6 = parseRanges(['2000::/3']) as AddressRanges;

/** DNS64's well-known prefix: an IPv4 address for IPv6-only hosts (RFC 6052 2.1). Other prefixes depend on the network. */
const DNS64 = parseRanges(['64:ff9b::/96']) as AddressRanges;

/** The interface identifier of ISATAP (RFC 5214): 0000:5efe or 0200:5efe, followed by an IPv4 address. */
const ISATAP = /:(?:0|200)?:5efe:[^:]+:[^:]+$/;

/**
 * Whether deliveries may go to the address. Default deny: texts other than addresses, IPv6 addresses with a zone, and
 * IPv6 addresses with an embedded IPv4 address are not public; behind DNS64's prefix the embedded address decides.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !DENIED.has(address);
  if (isIP(address) !== 6 || address.includes('%')) return false;
  if (DNS64.has(address)) return isPublicAddress(lastAsIpv4(address));
  // With a dot the text has an IPv4 address.
  return !address.includes('.') && GLOBAL_IPV6.has(address) && !DENIED.has(address) && !ISATAP.test(normal(address));
}

/** @returns null if one of the texts is not a network like `203.0.113.0/24` or `2001:db8::/32` */
export function parseRanges(texts: readonly string[]): AddressRanges | null {
  // One list per family: in a common list ::/0 would contain every IPv4 address, treated as a mapped one.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of texts) {
    const range = parsed(text);
    if (range === null) return null;
    lists[range.family].addSubnet(range.network, range.prefix, range.family);
  }
  return { has: (address) => forms(address).some(([form, family]) => lists[family].check(form, family)) };
}

function parsed(text: string): { network: string; prefix: number; family: Family } | null {
  const [, network = '', digits = ''] = /^([0-9A-Fa-f.:]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const family = familyOf(network);
  const prefix = Number(digits);
  if (family === null || prefix > BITS[family]) return null;
  const isMapped = family === 'ipv6' && prefix >= BEFORE_IPV4 && normal(network).startsWith('[::ffff:');
  return isMapped
    ? { network: lastAsIpv4(network), prefix: prefix - BEFORE_IPV4, family: 'ipv4' }
    : { network, prefix, family };
}

/** The address itself, and the embedded IPv4 address. */
function forms(given: string): [address: string, family: Family][] {
  // With a zone (fe80::1%eth0) BlockList returns false whatever its ranges.
  const address = given.split('%', 1)[0] ?? '';
  const family = familyOf(address);
  if (family === null) return [];
  if (family === 'ipv4' || !WITH_IPV4.check(address, 'ipv6')) return [[address, family]];
  return [
    [address, 'ipv6'],
    [lastAsIpv4(address), 'ipv4'],
  ];
}

function familyOf(address: string): Family | null {
  const version = isIP(address);
  return version === 0 ? null : `ipv${version as 4 | 6}`;
}

/** The last 32 bits of an IPv6 address without a zone. */
function lastAsIpv4(address: string): string {
  const groups = normal(address).slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The URL parser's form: in brackets, lower case, no dots, the longest run of zeros as `::`. */
function normal(address: string): string {
  return new URL(`https://[${address}]`).hostname;
}
