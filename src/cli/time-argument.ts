import { InvalidArgumentError } from 'commander';

/** ms since the epoch. A date without a time is its start, in UTC. */
export function timeArgument(value: string): number {
  const time = /^\d{4}-\d{2}-\d{2}(T.*(Z|[+-]\d{2}:\d{2}))?$/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new InvalidArgumentError('Write a time as 2026-11-21T09:00:00Z, or a day as 2026-11-21 for its start in UTC.');
}
