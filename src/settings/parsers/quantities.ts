/** Durations become milliseconds, sizes become bytes. */
import { type Delay, UNIT_MS } from '../../delivery/retry/retry-schedule.js';
import { becoming, listOf, matching, type Parser } from './parser.js';

const UNIT_BYTES: Readonly<Record<string, number>> = { MiB: 1024 ** 2, GiB: 1024 ** 3 };
/** Node's longest timer (24 days): a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const WITH_UNIT = 'a whole number and ms, s, m or h';
const DURATION = '(?:0|[1-9][0-9]{0,8})(?:ms|s|m|h)';

export const duration = becoming(matching(DURATION, `${WITH_UNIT}, like 15s`), inUnits(UNIT_MS));

/** 0 means off. */
export const durationOrOff = becoming(matching(`0|${DURATION}`, `${WITH_UNIT}, like 120h, or 0`), inUnits(UNIT_MS));

export const positiveDuration: Parser<number> = {
  ...becoming(duration, (ms) => (ms > 0 ? ms : undefined)),
  expected: `${WITH_UNIT}, like 15s, and more than 0`,
};

export const timeout: Parser<number> = {
  ...becoming(positiveDuration, (ms) => (ms <= LONGEST_TIMER_MS ? ms : undefined)),
  expected: `${WITH_UNIT}, like 15s, more than 0 and at most 596h`,
};

/** Refuses a delay of 0: failures would circle in such a tier as fast as it can be written. */
const delay: Parser<Delay> = {
  expected: positiveDuration.expected,
  parse: (text) => {
    const ms = positiveDuration.parse(text);
    return ms === undefined ? undefined : { text, ms };
  },
};
export const schedule = listOf(delay, 'delays of more than 0 with commas between, like 5s,5m,2h');

const SIZE = '[1-9][0-9]{0,6}(?:MiB|GiB)';
/** 0 means off. */
export const sizeOrOff = becoming(
  matching(`0|${SIZE}`, 'a whole number and MiB or GiB, like 10GiB, or 0'),
  inUnits(UNIT_BYTES),
);

/** 0 needs no unit. */
function inUnits(units: Readonly<Record<string, number>>): (text: string) => number {
  return (text) => {
    const [, count, unit = ''] = /^(\d+)(\w*)$/.exec(text) ?? [];
    return Number(count) * (units[unit] ?? 1);
  };
}
