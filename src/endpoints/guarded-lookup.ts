/** Limits the addresses of a name to allowed ones. */
import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** The subset of dns.lookup used here. */
export type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** By the system (getaddrinfo), which also has names of other sources than the hosts file and name servers. */
export const lookupAll: LookupAll = (hostname, options, callback) => systemLookup(hostname, options, callback);

/** A host resolves to a forbidden address. The message never says which: that would map our network. */
export class EndpointForbidden extends Error {
  override readonly name = 'EndpointForbidden';
  readonly code = 'ENDPOINT_FORBIDDEN';
  constructor() {
    super('the endpoint is not allowed');
  }
}

/** Receivers have a few. The owner of a name chooses how many there are to check and to try. */
export const MAX_ADDRESSES = 32;

/**
 * A socket's `lookup` that checks all addresses before the connection: one bad address, and the host is refused with
 * EndpointForbidden, so a mixed answer can't be used to reach the bad one. Sockets do not call it for IP literals, and
 * ask for all addresses (autoSelectFamily).
 */
export function guardLookup(lookup: LookupAll, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) callback(error, []);
      else if (addresses.length === 0 || addresses.length > MAX_ADDRESSES) callback(noAddresses(), []);
      else if (!addresses.every(({ address }) => isAllowed(address))) callback(new EndpointForbidden(), []);
      else callback(null, addresses);
    });
  };
}

function noAddresses(): Error {
  return Object.assign(new Error('no address, or too many'), { code: 'ENODATA' });
}

/** @param accountId for which the name is looked up */
export type LookupFor = (...asked: [...Parameters<LookupAll>, accountId: number]) => void;
