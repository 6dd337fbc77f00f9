/** Rows about two healthy accounts, with receivers of 10 and of 150 ms, and how many attempts were in flight meanwhile. */
import { setTimeout as delay } from 'node:timers/promises';
import { scrape } from '../../test/support/clients/scrape.js';
import type { Service } from '../../test/support/clients/service.js';
import { amount } from './format.js';
import type { SharedRow } from './rounds.js';
import { percentile } from './statistics.js';

export interface TwoSeen {
  readonly wellMs: readonly number[];
  readonly slowerMs: readonly number[];
  /** At most. */
  readonly inFlight: number;
}

const IN_FLIGHT = 'account_webhooks_attempts_in_flight';
const LOOK_EVERY_MS = 250;

/** @param title of the first */
export function rowsOfTwo(name: string, title: string): readonly SharedRow<TwoSeen>[] {
  return [
    [name, title, { kind: 'below', value: 250, unit: 'ms' }, ({ wellMs }) => p99(wellMs)],
    [
      `${name}-150`,
      'The same: one with receivers of 150 ms, p99',
      { kind: 'below', value: 500, unit: 'ms' },
      ({ slowerMs }) => p99(slowerMs),
    ],
  ];
}

export function saidOfTwo({ wellMs, slowerMs, inFlight }: TwoSeen): string {
  const [well, slower] = [wellMs, slowerMs].map((times) => amount(p99(times), 'ms'));
  return `p99 of 10 ms ${well}, of 150 ms ${slower}, ${inFlight} in flight`;
}

export function mostInFlight(seen: readonly TwoSeen[]) {
  return { notes: [`Most attempts in flight: ${seen.map(({ inFlight }) => inFlight).join(', ')}.`] };
}

export function p99(times: readonly number[]): number {
  return percentile(times, 99);
}

/** @returns ends it, and says how many */
export function watchInFlight({ adminUrl }: Service): () => Promise<number> {
  const ended = new AbortController();
  const watching = watch(adminUrl, ended.signal);
  // Told by who ends it.
  watching.catch(() => undefined);
  return () => {
    ended.abort();
    return watching;
  };
}

async function watch(adminUrl: string, ended: AbortSignal): Promise<number> {
  let most = 0;
  while (!ended.aborted) {
    most = Math.max(most, (await scrape(adminUrl)).value(IN_FLIGHT) ?? 0);
    await delay(LOOK_EVERY_MS);
  }
  return most;
}
