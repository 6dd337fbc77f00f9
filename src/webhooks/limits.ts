/** The limits and names of the REST contract for webhooks, and the rules for their headers. */

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

/**
 * What a session may do: read; read payloads and responses too; send again or cancel; change webhooks, notices and
 * recoveries; manage signing secrets and sessions. A token of the account has every right.
 */
export const RIGHTS = ['read', 'payloads', 'resend', 'configure', 'secrets'] as const;

export type Right = (typeof RIGHTS)[number];

/** Active URLs per account and event type; inactive ones do not count. */
export const MAX_ACTIVE_PER_TYPE = 3;

/** Entries per account, including inactive ones: each change of one costs as much as all of them. */
export const MAX_WEBHOOKS = 100;

/** Stored size of an account's webhooks, in characters, the cost of each change. 21 with the largest headers fit. */
export const MAX_ACCOUNT_CHARACTERS = 1024 * 1024;

export const MAX_HEADERS = 5;
export const MAX_HEADER_NAME_LENGTH = 64;
/** Room for a long bearer token. The receiver has its own limit for all headers together (often 16 KiB). */
export const MAX_HEADER_VALUE_LENGTH = 4096;

const BLOCKED_NAMES = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'content-type',
  'user-agent',
  // The other hop-by-hop names (RFC 9110 7.6.1) and expect: HTTP itself needs them.
  'expect',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  // The body is sent as published, without any coding.
  'content-encoding',
]);

/**
 * True for names that the service or HTTP itself sets; case-insensitive. Receivers behind CGI and similar can't
 * distinguish `_` from `-` (RFC 3875 4.1.18): webhook_signature would pass for webhook-signature there.
 */
function isBlockedHeaderName(name: string): boolean {
  const folded = name.toLowerCase().replaceAll('_', '-');
  return BLOCKED_NAMES.has(folded) || folded.startsWith('webhook-');
}

export interface GivenHeader {
  readonly key: string;
  readonly value: string;
}

interface HeaderProblem {
  readonly index: number;
  readonly part: 'key' | 'value';
  readonly problem: HeaderCode;
}

/** By its code in the API. */
type HeaderCode =
  | { readonly code: 'header-name' | 'header-blocked' | 'header-repeated' | 'header-value' }
  | { readonly code: 'too-long'; readonly params: { readonly limit: number } };

export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible ASCII, with spaces and tabs inside; may be empty. */
export const HEADER_VALUE = /^([\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?)?$/;

/** RFC 9110 5.1 and 5.5, narrowed. Checked as given, before any trimming. */
export function headerProblems(headers: readonly GivenHeader[]): HeaderProblem[] {
  const seen = new Set<string>();
  return headers.flatMap(({ key, value }, index) => {
    const name = nameProblem(key, seen);
    const content = valueProblem(value);
    seen.add(key.toLowerCase());
    const problems: HeaderProblem[] = [];
    if (name) problems.push({ index, part: 'key', problem: name });
    if (content) problems.push({ index, part: 'value', problem: content });
    return problems;
  });
}

function nameProblem(name: string, seen: ReadonlySet<string>): HeaderCode | null {
  if (name.length > MAX_HEADER_NAME_LENGTH) return { code: 'too-long', params: { limit: MAX_HEADER_NAME_LENGTH } };
  if (!HEADER_NAME.test(name)) return { code: 'header-name' };
  if (isBlockedHeaderName(name)) return { code: 'header-blocked' };
  return seen.has(name.toLowerCase()) ? { code: 'header-repeated' } : null;
}

function valueProblem(value: string): HeaderCode | null {
  if (value.length > MAX_HEADER_VALUE_LENGTH) return { code: 'too-long', params: { limit: MAX_HEADER_VALUE_LENGTH } };
  return HEADER_VALUE.test(value) ? null : { code: 'header-value' };
}
