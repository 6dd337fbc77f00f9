import { isIP } from 'node:net';
import type { AddressRanges } from './address-ranges.js';
import { parseUrl } from './parse-url.js';

/** Ports from `from` to `to`, both included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export interface EndpointRules {
  readonly allowedPorts: readonly PortRange[];
  /** Lifts what a host may be (IP literal, single label, reserved name) and nothing else. */
  readonly allowPrivate: boolean;
  /** Of the operator, whatever else is allowed; none without it. */
  readonly denied?: AddressRanges;
}

/** `href`: the WHATWG-normalised URL, its identity. */
export type ParsedEndpoint =
  | { readonly ok: true; readonly href: string }
  | { readonly ok: false; readonly message: string };

type Refusal = string | undefined;

export const MAX_URL_CHARACTERS = 2048;
const TOO_LONG = `url must have at most ${MAX_URL_CHARACTERS} characters, percent-encoded.`;
const MAX_HOST_CHARACTERS = 253;
const LABEL = /^[a-z0-9_-]{1,63}$/;
const DEFAULT_HTTPS_PORT = 443;

/** Names that never belong to a public host: RFC 6761, 6762, 7686, 8375, 9476 and what routers and clouds use. */
const RESERVED_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'localdomain',
  'home.arpa',
  'onion',
  'test',
  'invalid',
  'example',
];

/**
 * Judges a URL that somebody wants payment events to be sent to. The message of a refusal is one sentence for that
 * person. Where the host's name leads to is judged at each connection (guarded-connector.ts).
 */
export function parseEndpoint(raw: string, rules: EndpointRules): ParsedEndpoint {
  // The URL parser drops tabs and line ends, turns backslashes round and rewrites hosts: the input is judged first.
  const rawRefusal = refuseInput(raw) ?? refuseAuthority(authorityOf(raw));
  if (rawRefusal !== undefined) return { ok: false, message: rawRefusal };
  const url = parseUrl(raw);
  if (url === null) return { ok: false, message: 'url is not a valid URL.' };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const message = refuseLength(url.href) ?? refusePort(url, rules) ?? refuseHost(host, rules);
  return message === undefined ? { ok: true, href: url.href } : { ok: false, message };
}

function refuseInput(raw: string): Refusal {
  if (raw.length > MAX_URL_CHARACTERS) return TOO_LONG;
  if (/[\p{Cc}\p{Cs}\s\\]/u.test(raw)) return 'url must not contain spaces, control characters or backslashes.';
  // On a terminal they turn the order of what follows: an auditor would read another URL.
  if (/\p{Bidi_Control}/u.test(raw)) return 'url must not contain characters that change the text direction.';
  if (!/^https:\/\/[^/?#]/i.test(raw)) return 'url must begin with https:// and a host.';
  if (raw.includes('#')) return 'url must not have a fragment.';
  return undefined;
}

/** As it is kept and sent: a letter of another script has nine characters there. */
function refuseLength(href: string): Refusal {
  return href.length > MAX_URL_CHARACTERS ? TOO_LONG : undefined;
}

/** What stands between https:// and the path: userinfo, host and port, as written. */
function authorityOf(raw: string): string {
  return /^[^:]*:\/\/([^/?#]*)/.exec(raw)?.[1] ?? '';
}

function refuseAuthority(authority: string): Refusal {
  if (authority.includes('@')) return 'url must not contain a user name or a password.';
  // Both would be decoded, or dropped, on the way to the host that is looked up.
  if (/[%\p{Default_Ignorable_Code_Point}]/u.test(authority)) {
    return 'the host of url must not contain percent signs or invisible characters.';
  }
  // Looked for in the input because the parser drops it from an IPv4 address. NFKC makes other full stops plain.
  const host = authority.replace(/:\d*$/, '').normalize('NFKC');
  if (/[.\u3002]$/.test(host)) return 'the host of url must not end in a dot.';
  return undefined;
}

function refusePort(url: URL, { allowedPorts }: EndpointRules): Refusal {
  const port = url.port === '' ? DEFAULT_HTTPS_PORT : Number(url.port);
  if (allowedPorts.some(({ from, to }) => from <= port && port <= to)) return undefined;
  return `port ${port} is not allowed in url.`;
}

function refuseHost(host: string, { allowPrivate, denied }: EndpointRules): Refusal {
  if (isIP(host) !== 0) {
    if (!allowPrivate) return 'the host of url must be a name, not an IP address.';
    return denied?.has(host) ? 'the host of url is an IP address that is not allowed.' : undefined;
  }
  if (host.length > MAX_HOST_CHARACTERS) return `the host of url must have at most ${MAX_HOST_CHARACTERS} characters.`;
  if (!host.split('.').every((label) => LABEL.test(label))) {
    return 'the host of url must consist of labels of 1 to 63 letters, digits, hyphens or underscores.';
  }
  return allowPrivate ? undefined : refusePrivateName(host);
}

function refusePrivateName(host: string): Refusal {
  const reserved = RESERVED_SUFFIXES.find((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  if (reserved !== undefined) return `the host of url must not be a reserved name (${reserved}).`;
  if (!host.includes('.')) return 'the host of url must be a full domain name.';
  return undefined;
}
