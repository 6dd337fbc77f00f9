import { InvalidArgumentError } from 'commander';
import { readTime } from '../time/iso-time.js';

/** ms since the epoch. */
export function timeArgument(value: string): number {
  const time = readTime(value);
  if (time !== null) return time;
  throw new InvalidArgumentError('Write a time as 2026-11-21T09:00:00Z, or a day as 2026-11-21 for its start in UTC.');
}
