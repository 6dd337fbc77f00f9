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

/**
 * A socket's `lookup` that checks all addresses before the connection: one bad address, and the host is refused with
 * EndpointForbidden, so a mixed answer can't be used to reach the bad one. Sockets do not call it for IP literals.
 */
export function guardLookup(lookup: LookupAll, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) callback(error, []);
      else if (!addresses.every(({ address }) => isAllowed(address))) callback(new EndpointForbidden(), []);
      else answer(addresses, options.all === true, callback);
    });
  };
}

function answer(addresses: LookupAddress[], all: boolean, callback: LookupCallback): void {
  const [first] = addresses;
  if (first === undefined) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), []);
  else if (all) callback(null, addresses);
  else callback(null, first.address, first.family);
}
