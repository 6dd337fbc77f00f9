/** Locations of other systems: URLs, hosts, ports and networks. */
import { type AddressRanges, parseRanges } from '../../endpoints/address-ranges.js';
import type { PortRange } from '../../endpoints/endpoint-url.js';
import { parseUrl } from '../../endpoints/parse-url.js';
import { becoming, listOf, matching, type Parser } from './parser.js';

/** Null: SQLite, the embedded store. KurrentDB's own pages name the schemes that its older client does not know. */
export const eventStoreUrl = becoming(
  matching(
    'sqlite|(esdb|kurrent|kurrentdb)([+]discover)?://.+',
    'sqlite, or a connection string like esdb://host:2113?tls=true',
  ),
  (url) => (url === 'sqlite' ? null : url.replace(/^kurrent(db)?(?=[+:])/, 'esdb')),
);

const BROKER = '[A-Za-z0-9.-]+:[0-9]{1,5}|\\[[0-9A-Fa-f:]+\\]:[0-9]{1,5}';
const brokers = listOf(matching(BROKER, 'host:port'), 'host:port with commas between');

/** host:port of each broker. Null: SQLite, the embedded broker. */
export const brokerUrl = becoming(matching('sqlite|kafka://.+', 'sqlite, or kafka://host:9092,host:9092'), (url) =>
  url === 'sqlite' ? null : brokers.parse(url.slice('kafka://'.length)),
);

/** Keys over plain http could be replaced on the way, so http is allowed only for an issuer on this machine. */
export const jwksUrl = url('an https URL without user and password (http only to this machine)', (given) => {
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(given.hostname);
  return given.protocol === 'https:' || (given.protocol === 'http:' && isLoopback) ? given.href : undefined;
});

/** Without a trailing slash. */
export const publicUrl = url('an https or http URL without user, query and fragment', (given, text) =>
  isHttp(given) && !/[?#]/.test(text) ? given.href.replace(/\/+$/, '') : undefined,
);

const ORIGIN = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/;

/** As `frame-ancestors` of a Content-Security-Policy takes them; a URL's host may have more, as `;`. */
export const origins = listOf(
  url('an origin', ({ origin }, text) => (origin === text && ORIGIN.test(text) ? text : undefined)),
  'origins like https://portal.example.com, with commas between',
);

/** Credentials for a collector belong in a header (OTEL_EXPORTER_OTLP_HEADERS): URLs end up in logs. */
export const collectorUrl = url(
  'an http or https URL without user and password, like http://127.0.0.1:4318',
  (given) => (isHttp(given) ? given.href : undefined),
);

/** None accepts a user and password: fetch refuses such a URL with an error that shows all of it. */
function url(expected: string, become: (url: URL, text: string) => string | undefined): Parser<string> {
  const parse = (text: string) => {
    const given = parseUrl(text);
    return given === null || given.username || given.password ? undefined : become(given, text);
  };
  return { expected, parse };
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:';
}

const HIGHEST_PORT = 65_535;

/** 0: the system chooses a free port. */
export const port = becoming(matching('[0-9]{1,5}', `a port from 0 to ${HIGHEST_PORT}`), (digits) =>
  Number(digits) <= HIGHEST_PORT ? Number(digits) : undefined,
);

const portRange = becoming(
  matching('[0-9]{1,5}(-[0-9]{1,5})?', 'a port, or a range'),
  (range): PortRange | undefined => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return 1 <= from && from <= to && to <= HIGHEST_PORT ? { from, to } : undefined;
  },
);
export const portRanges = listOf(portRange, `ports from 1 to ${HIGHEST_PORT} and ranges, like 443,8443,20000-20100`);

export const addressRanges: Parser<AddressRanges> = {
  expected: 'networks like 203.0.113.0/24,2001:db8::/32',
  parse: (text) => parseRanges(text.split(',')) ?? undefined,
};
