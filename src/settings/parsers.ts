/** The parsers of settings, from their text to their value, and their building blocks. Durations become ms, sizes bytes. */
import { type Delay, UNIT_MS } from '../delivery/retry/retry-schedule.js';
import { type AddressRanges, parseRanges } from '../endpoints/address-ranges.js';
import { type PortRange, parseUrl } from '../endpoints/endpoint-url.js';
import { trimTrailingSlashes } from '../host/trailing-slashes.js';
import { MASTER_KEY_BYTES } from '../secrets/master-keys.js';
import { EVENT_TYPES } from '../webhooks/limits.js';

export interface Parser<T> {
  /** Completes "KEY must be". */
  readonly expected: string;
  /** Undefined: the text is not valid. */
  readonly parse: (text: string) => T | undefined;
}

/** @param whole matches the whole text */
function matching(whole: RegExp, expected: string): Parser<string> {
  return { expected, parse: (text) => (whole.test(text) ? text : undefined) };
}

/** Converts the value of `parser`. Undefined: the value is not valid after all. */
function becoming<T, U>(parser: Parser<T>, become: (value: T) => U | undefined): Parser<U> {
  const parse = (text: string) => {
    const value = parser.parse(text);
    return value === undefined ? undefined : become(value);
  };
  return { expected: parser.expected, parse };
}

/** Null if the setting is unset and has no default. */
export function optional<T>(parser: Parser<T>): Parser<T | null> {
  return { expected: parser.expected, parse: (text) => (text === '' ? null : parser.parse(text)) };
}

/** Separated by commas. */
function listOf<T>(item: Parser<T>, expected: string): Parser<readonly [T, ...T[]]> {
  const parse = (text: string) => {
    const [first, ...rest] = text.split(',').map(item.parse);
    return first === undefined || !rest.every((one) => one !== undefined) ? undefined : ([first, ...rest] as const);
  };
  return { expected, parse };
}

export const text: Parser<string> = { expected: 'text', parse: (given) => given };
/** RFC 6749 3.3. */
export const scopeToken = matching(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'a scope without spaces, quotes and backslashes');
export const path: Parser<string> = { ...text, expected: 'a path' };

export function oneOf<const T extends string>(words: readonly T[]): Parser<T> {
  return { expected: `one of ${words.join(', ')}`, parse: (given) => words.find((word) => word === given) };
}

export const eventTypes = listOf(oneOf(EVENT_TYPES), `event types with commas between, of ${EVENT_TYPES.join(', ')}`);

export const flag = becoming(matching(/^(?:true|false)$/, 'true or false'), (given) => given === 'true');

export const whole = becoming(matching(/^[1-9][0-9]{0,6}$/, 'a whole number from 1 to 9999999'), Number);
export const wholeOrOff = becoming(
  matching(/^(?:0|[1-9][0-9]{0,6})$/, 'a whole number from 0 (off) to 9999999'),
  Number,
);
export const wholeTo256 = becoming(
  matching(/^(?:[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-6])$/, 'a whole number from 1 to 256'),
  Number,
);
export const wholeTo99 = becoming(matching(/^[1-9][0-9]?$/, 'a whole number from 1 to 99'), Number);

const NAME = /^[A-Za-z0-9._-]{1,200}$/;
export const group = matching(NAME, 'a group name of A-Z a-z 0-9 . _ -');
/** The default group begins with it, and is as long as another at most. */
export const prefix = matching(/^[A-Za-z0-9._-]{0,184}$/, 'a prefix of A-Z a-z 0-9 . _ -');
export const topics = listOf(matching(NAME, 'a topic name'), 'topic names of A-Z a-z 0-9 . _ - with commas between');

export const key = becoming(matching(/^[A-Za-z0-9+/]{43}=$/, `${MASTER_KEY_BYTES} bytes in base64`), (base64) =>
  Buffer.from(base64, 'base64'),
);

const UNIT_BYTES: Readonly<Record<string, number>> = { MiB: 1024 ** 2, GiB: 1024 ** 3 };
const WITH_UNIT = 'a whole number and ms, s, m or h';
const DURATION = /^[1-9][0-9]{0,8}(?:ms|s|m|h)$/;
const DURATION_OR_OFF = /^(?:0|(?:0|[1-9][0-9]{0,8})(?:ms|s|m|h))$/;
const inMs = inUnits(UNIT_MS);

export const positiveDuration = becoming(matching(DURATION, `${WITH_UNIT}, like 15s, and more than 0`), inMs);
/** Node's longest timer (24 days): a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
export const timeout: Parser<number> = {
  ...becoming(positiveDuration, (ms) => (ms <= LONGEST_TIMER_MS ? ms : undefined)),
  expected: `${WITH_UNIT}, like 15s, more than 0 and at most 596h`,
};
/** 0 means off. */
export const durationOrOff = becoming(matching(DURATION_OR_OFF, `${WITH_UNIT}, like 120h, or 0`), inMs);

/** Refuses a delay of 0: failures would circle in such a tier as fast as it can be written. */
const delay: Parser<Delay> = {
  expected: positiveDuration.expected,
  parse: (text) => {
    const ms = positiveDuration.parse(text);
    return ms === undefined ? undefined : { text, ms };
  },
};
export const schedule = listOf(delay, 'delays of more than 0 with commas between, like 5s,5m,2h');

const SIZE = /^[1-9][0-9]{0,6}(?:MiB|GiB)$/;
const SIZE_OR_OFF = /^(?:0|[1-9][0-9]{0,6}(?:MiB|GiB))$/;
const IN_BYTES = 'a whole number and MiB or GiB, like 10GiB';
const inBytes = inUnits(UNIT_BYTES);

export const size = becoming(matching(SIZE, IN_BYTES), inBytes);
/** 0 means off. */
export const sizeOrOff = becoming(matching(SIZE_OR_OFF, `${IN_BYTES}, or 0`), inBytes);

/** 0 needs no unit. */
function inUnits(units: Readonly<Record<string, number>>): (text: string) => number {
  return (text) => {
    const [, count, unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? [];
    return Number(count) * (units[unit] ?? 1);
  };
}

/** Null: SQLite, the embedded store. KurrentDB's own pages name the schemes that its older client does not know. */
export const eventStoreUrl = becoming(
  matching(
    /^(?:sqlite|(esdb|kurrent(db)?)([+]discover)?:\/\/.+)$/u,
    'sqlite, or a connection string like esdb://host:2113?tls=true',
  ),
  (url) => (url === 'sqlite' ? null : url.replace(/^kurrent(db)?(?=[+:])/, 'esdb')),
);

const BROKER = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):[0-9]{1,5}$/;
const brokers = listOf(matching(BROKER, 'host:port'), 'host:port with commas between');

/** host:port of each broker. Null: SQLite, the embedded broker. */
export const brokerUrl = becoming(
  matching(/^(?:sqlite|kafka:\/\/.+)$/u, 'sqlite, or kafka://host:9092,host:9092'),
  (url) => (url === 'sqlite' ? null : brokers.parse(url.slice('kafka://'.length))),
);

/** Keys over plain http could be replaced on the way, so http is allowed only for an issuer on this machine. */
export const jwksUrl = url('an https URL without user and password (http only to this machine)', (given) => {
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(given.hostname);
  return given.protocol === 'https:' || (given.protocol === 'http:' && isLoopback) ? given.href : undefined;
});

/** Without a trailing slash. */
export const publicUrl = url('an https or http URL without user, query and fragment', (given, text) =>
  isHttp(given) && !/[?#]/.test(text) ? trimTrailingSlashes(given.href) : undefined,
);

/** As `frame-ancestors` of a Content-Security-Policy takes them; a URL's host may have more, as `;`. */
export const origins = listOf(
  matching(/^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?$/, 'an origin'),
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
export const port = becoming(matching(/^[0-9]{1,5}$/, `a port from 0 to ${HIGHEST_PORT}`), (digits) =>
  Number(digits) <= HIGHEST_PORT ? Number(digits) : undefined,
);

const portRange = becoming(matching(/^[0-9]{1,5}(-[0-9]{1,5})?$/, 'a port, or a range'), portsIn);

function portsIn(range: string): PortRange | undefined {
  const [from = 0, to = from] = range.split('-').map(Number);
  return 1 <= from && from <= to && to <= HIGHEST_PORT ? { from, to } : undefined;
}
export const portRanges = listOf(portRange, `ports from 1 to ${HIGHEST_PORT} and ranges, like 443,8443,20000-20100`);

export const addressRanges: Parser<AddressRanges> = {
  expected: 'networks like 203.0.113.0/24,2001:db8::/32',
  parse: (text) => parseRanges(text.split(',')) ?? undefined,
};
