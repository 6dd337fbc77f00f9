import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { EndpointForbidden } from './endpoint-forbidden.js';

type LookupCallback = Parameters<LookupFunction>[2];

/** The subset of dns.lookup used here. */
export type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The default resolver: getaddrinfo, so the hosts file and the system's settings apply. */
export const lookupAll: LookupAll = (hostname, options, callback) => systemLookup(hostname, options, callback);

/** Receivers have a few. The owner of a name chooses how many there are to check, and to try. */
const MOST_ADDRESSES = 32;
const MOST_TRIED_OF_A_FAMILY = 4;

/**
 * A socket's `lookup` that checks all addresses before the connection: one bad address, and the host is refused with
 * EndpointForbidden, so a mixed answer can't be used to reach the bad one. Sockets do not call it for IP literals.
 */
export function guardLookup(lookup: LookupAll, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) callback(error, []);
      else if (addresses.length > MOST_ADDRESSES) callback(failure('too many addresses', 'ENODATA'), []);
      else if (!addresses.every(({ address }) => isAllowed(address))) callback(new EndpointForbidden(), []);
      else answer(addresses, options.all === true, callback);
    });
  };
}

function answer(addresses: LookupAddress[], all: boolean, callback: LookupCallback): void {
  const [first] = addresses;
  if (first === undefined) callback(failure('no address', 'ENOTFOUND'), []);
  else if (all) callback(null, [...firstOf(4, addresses), ...firstOf(6, addresses)].sort(inOrderOf(addresses)));
  else callback(null, first.address, first.family);
}

function firstOf(family: 4 | 6, addresses: readonly LookupAddress[]): LookupAddress[] {
  return addresses.filter((one) => one.family === family).slice(0, MOST_TRIED_OF_A_FAMILY);
}

function inOrderOf(addresses: readonly LookupAddress[]) {
  return (one: LookupAddress, other: LookupAddress) => addresses.indexOf(one) - addresses.indexOf(other);
}

function failure(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
