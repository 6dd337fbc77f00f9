import { isIP } from 'node:net';
import type { AddressRanges } from './address-ranges.js';

/** Ports from `from` to `to`, inclusive. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export interface EndpointRules {
  readonly allowedPorts: readonly PortRange[];
  /** Lifts only the rules about hosts (IP literal, single label, reserved name). */
  readonly allowPrivate: boolean;
  /** The operator's own denied ranges, which override everything else. Default: none. */
  readonly denied?: AddressRanges;
}

/** `href`: the WHATWG-normalised URL, its identity. */
export type ParsedEndpoint =
  | { readonly ok: true; readonly href: string }
  | { readonly ok: false; readonly problem: UrlProblem };

/** By its code in the API, with what its text needs. */
type UrlProblem =
  | {
      readonly code:
        | 'url-characters'
        | 'url-fragment'
        | 'url-invalid'
        | 'url-not-https'
        | 'url-user'
        | 'host-address'
        | 'host-invalid';
    }
  | { readonly code: 'url-too-long'; readonly params: { readonly limit: number } }
  | { readonly code: 'port-refused'; readonly params: { readonly port: number } }
  | { readonly code: 'host-reserved'; readonly params: { readonly suffix: string } };

type Refusal = UrlProblem | undefined;

export const MAX_URL_CHARACTERS = 2048;
const TOO_LONG = { code: 'url-too-long', params: { limit: MAX_URL_CHARACTERS } } as const;
const HOST_INVALID = { code: 'host-invalid' } as const;
const MAX_HOST_CHARACTERS = 253;
/** Of userinfo, host and port as written. To encode a host of 2,030 letters as Punycode takes 9 ms, one of these 0.5. */
const MAX_AUTHORITY_CHARACTERS = 512;
const LABEL = /^[a-z0-9_-]{1,63}$/;
const DEFAULT_HTTPS_PORT = 443;

/** Names that never belong to a public host: RFC 3172, 6761, 6762, 7686, 8375, 9476, and names that routers and clouds use. */
const RESERVED_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'localdomain',
  'home.arpa',
  'in-addr.arpa',
  'ip6.arpa',
  'onion',
  'test',
  'invalid',
  'example',
];

/**
 * Validates a URL that somebody registers for payment events. The
 * addresses of the host are checked at each connection (guarded-connector.ts).
 */
export function parseEndpoint(raw: string, rules: EndpointRules): ParsedEndpoint {
  // The URL parser drops tabs and line ends, converts backslashes and rewrites hosts, so the raw input is checked
  // first.
  const rawRefusal = refuseInput(raw) ?? refuseAuthority(authorityOf(raw));
  if (rawRefusal !== undefined) return { ok: false, problem: rawRefusal };
  const url = parseUrl(raw);
  if (url === null) return { ok: false, problem: { code: 'url-invalid' } };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const problem = refuseLength(url.href) ?? refusePort(url, rules) ?? refuseHost(host, rules);
  return problem === undefined ? { ok: true, href: url.href } : { ok: false, problem };
}

function refuseInput(raw: string): Refusal {
  if (raw.length > MAX_URL_CHARACTERS) return TOO_LONG;
  // On a terminal bidi controls reorder the text after them: an auditor would read another URL.
  if (/[\p{Cc}\p{Cs}\s\\\p{Bidi_Control}]/u.test(raw)) return { code: 'url-characters' };
  if (!/^https:\/\/[^/?#]/i.test(raw)) return { code: 'url-not-https' };
  if (raw.includes('#')) return { code: 'url-fragment' };
  return undefined;
}

/** The length as stored and sent: a non-ASCII letter takes up to nine characters there. */
function refuseLength(href: string): Refusal {
  return href.length > MAX_URL_CHARACTERS ? TOO_LONG : undefined;
}

/** The text between https:// and the path: userinfo, host and port, as written. */
function authorityOf(raw: string): string {
  return /^[^:]*:\/\/([^/?#]*)/.exec(raw)?.[1] ?? '';
}

function refuseAuthority(authority: string): Refusal {
  if (authority.length > MAX_AUTHORITY_CHARACTERS) return HOST_INVALID;
  if (authority.includes('@')) return { code: 'url-user' };
  // The parser would decode the former and drop the latter before the host is looked up.
  if (/[%\p{Default_Ignorable_Code_Point}]/u.test(authority)) return HOST_INVALID;
  // Checked in the input because the parser drops the dot from an IPv4 address. NFKC turns other full stops into plain
  // ones.
  const host = authority.replace(/:\d*$/, '').normalize('NFKC');
  return /[.\u3002]$/.test(host) ? HOST_INVALID : undefined;
}

function refusePort(url: URL, { allowedPorts }: EndpointRules): Refusal {
  const port = url.port === '' ? DEFAULT_HTTPS_PORT : Number(url.port);
  if (allowedPorts.some(({ from, to }) => from <= port && port <= to)) return undefined;
  return { code: 'port-refused', params: { port } };
}

function refuseHost(host: string, { allowPrivate, denied }: EndpointRules): Refusal {
  if (isIP(host) !== 0) {
    return !allowPrivate || denied?.has(host) ? { code: 'host-address' } : undefined;
  }
  const isName = host.length <= MAX_HOST_CHARACTERS && host.split('.').every((label) => LABEL.test(label));
  if (!isName) return HOST_INVALID;
  return allowPrivate ? undefined : refusePrivateName(host);
}

function refusePrivateName(host: string): Refusal {
  const reserved = RESERVED_SUFFIXES.find((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  if (reserved !== undefined) return { code: 'host-reserved', params: { suffix: reserved } };
  return host.includes('.') ? undefined : HOST_INVALID;
}

/** Characters that RFC 3986 does not allow in a path or query, and percent signs that encode nothing. */
const UNENCODED = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]|%(?![0-9A-Fa-f]{2})/g;

/**
 * The request target of a normalised URL without a fragment. The URL parser leaves `|`, `[`, `]`, `^` and bare percent
 * signs as they are, and in a query braces and backticks too; servers and proxies refuse them (RFC 9112 3.2).
 */
export function requestTarget({ origin, href }: URL): string {
  const encoded = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return href.slice(origin.length).replace(UNENCODED, encoded);
}

/**
 * Parses a URL; null if the text is not one, or is longer than any webhook's. Hazard: Punycode takes quadratic time, 0.5 s for a
 * host of 16,000 letters. Hazard: once compiled, after some 5,000 calls, URL.canParse of Node 20
 * rejects URLs with Latin letters like ü: its fast path reads them as UTF-8. (URL.parse came with Node 22.)
 */
export function parseUrl(text: string): URL | null {
  if (text.length > MAX_URL_CHARACTERS || hostLength(text) > MAX_AUTHORITY_CHARACTERS) return null;
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** As the URL parser sees it: any number of slashes, backslashes, tabs and line ends is before it. */
function hostLength(text: string): number {
  return /^[^/\\?#:]*:[/\\\t\r\n]*([^/\\?#]*)/.exec(text)?.[1]?.length ?? 0;
}
