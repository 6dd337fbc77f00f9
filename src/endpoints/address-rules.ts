import { BlockList, isIP } from 'node:net';
import { lastAsIpv4 } from './address-ranges.js';

type Family = 'ipv4' | 'ipv6';

/** Denied IPv4 addresses: the IANA special-purpose registry, multicast, and one of Azure's. */
const DENIED_IPV4 = subnets('ipv4', [
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
]);

/** IANA's global unicast space. It excludes mapped, compatible and translated IPv4. */
const GLOBAL_IPV6 = subnets('ipv6', ['2000::/3']);

const DENIED_IPV6 = subnets('ipv6', [
  '2001::/23', // Teredo (an embedded IPv4 address), benchmarking, ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4: an embedded IPv4 address
  '2620:4f:8000::/48',
  '3fff::/20',
]);

/** DNS64's well-known prefix: an IPv4 address for IPv6-only hosts (RFC 6052 2.1). Other prefixes depend on the network. */
const DNS64 = subnets('ipv6', ['64:ff9b::/96']);

/** The interface identifier of ISATAP (RFC 5214): 0000:5efe or 0200:5efe, followed by an IPv4 address. */
const ISATAP = /:(?:0|200)?:5efe:[^:]+:[^:]+$/;

/**
 * Whether deliveries may go to the address. Default deny: texts other than addresses, IPv6 addresses with a zone, and
 * IPv6 addresses with an embedded IPv4 address are not public; behind DNS64's prefix the embedded address decides.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !DENIED_IPV4.check(address, 'ipv4');
    case 6:
      return isPublicIpv6(address);
    default:
      return false;
  }
}

function isPublicIpv6(address: string): boolean {
  // With a zone (fe80::1%eth0) BlockList would return false whatever its rules.
  if (address.includes('%')) return false;
  if (DNS64.check(address, 'ipv6')) return isPublicAddress(lastAsIpv4(address));
  if (address.includes('.')) return false; // an IPv4 address in the text
  if (!GLOBAL_IPV6.check(address, 'ipv6') || DENIED_IPV6.check(address, 'ipv6')) return false;
  return !ISATAP.test(new URL(`https://[${address}]`).hostname.slice(1, -1));
}

function subnets(family: Family, ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
