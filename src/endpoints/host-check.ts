import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { isPublicAddress } from './address-rules.js';
import { type LookupAll, lookupAll } from './resolve.js';

export type HostVerdict = { readonly ok: true } | { readonly ok: false; readonly message: string };

export interface HostCheckOptions {
  readonly allowPrivate: boolean;
  readonly lookup?: LookupAll;
  /** How long the answer is waited for, 3 s without it. */
  readonly timeoutMs?: number;
}

/** One message whatever a name led to. That it led anywhere is told, for a name that does not resolve yet is taken. */
const REFUSED: HostVerdict = { ok: false, message: 'the host of url is not allowed.' };
const TAKEN: HostVerdict = { ok: true };

/**
 * Judges the host of a URL at registration: a name or an IP address (IPv6 without brackets). A name that does not
 * resolve yet, or not in time, is taken: its addresses are judged at every connection (guarded-connector.ts). Never
 * rejects.
 */
export function createHostCheck({ allowPrivate, lookup = lookupAll, timeoutMs = 3000 }: HostCheckOptions) {
  return async function checkHost(host: string): Promise<HostVerdict> {
    if (allowPrivate) return TAKEN;
    const addresses = isIP(host) === 0 ? await resolveWithin(timeoutMs, host, lookup) : [host];
    return addresses.every(isPublicAddress) ? TAKEN : REFUSED;
  };
}

/** The addresses of a name; none where it does not resolve in time. */
function resolveWithin(timeoutMs: number, host: string, lookup: LookupAll): Promise<string[]> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve([]), timeoutMs);
    lookup(host, { all: true }, (error, answers: LookupAddress[]) => {
      clearTimeout(timer);
      resolve(error === null ? answers.map(({ address }) => address) : []);
    });
  });
}
