/** The figures and names of the REST contract that a webhook must keep to. */

export const EVENT_TYPES = [
  'cash_in',
  'cash_out',
  'refund_in',
  'refund_out',
  'med_created',
  'med_accepted',
  'med_rejected',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Active URLs an account may have per event type; inactive ones do not count. */
export const MAX_ACTIVE_PER_TYPE = 3;

/** Entries an account may have, inactive ones too: each change of one costs as much as all of them. */
export const MAX_WEBHOOKS = 100;

export const MAX_HEADERS = 5;
export const MAX_HEADER_NAME_LENGTH = 64;
/** Room for a long bearer token; what a receiver takes as a whole (often 16 KiB) is its own to know. */
export const MAX_HEADER_VALUE_LENGTH = 4096;

const BLOCKED_NAMES = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'content-type',
  'user-agent',
  // The rest of the hop-by-hop names (RFC 9110 7.6.1) and expect: HTTP itself needs them.
  'expect',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
]);

/** True for the names that the service or HTTP itself sets; compared without case. */
export function isBlockedHeaderName(name: string): boolean {
  const lower = name.toLowerCase();
  return BLOCKED_NAMES.has(lower) || lower.startsWith('webhook-');
}
