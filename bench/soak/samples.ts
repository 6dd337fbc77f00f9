/** What is looked at every ten seconds while the service works, and how it changes. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Receivers } from '../support/installation.js';
import { residentMiB } from '../support/memory.js';
import { percentile } from '../support/statistics.js';

const MIB = 1024 ** 2;

export interface SoakSample {
  /** Since the beginning. */
  readonly minutes: number;
  readonly residentMiB: number;
  /** Of what arrived since the last sample, ms since publication. */
  readonly p50: number;
  readonly p99: number;
  readonly deliveries: number;
  /** Of DATA_DIR, by name, MiB. */
  readonly files: Readonly<Record<string, number>>;
}

export async function soakSample(
  minutes: number,
  { pid, receivers, dataDir }: { pid: number; receivers: Receivers; dataDir: string },
): Promise<SoakSample> {
  const times = await receivers.ask('latencies');
  const files = readdirSync(dataDir).map((name) => [name, sizeOf(join(dataDir, name)) / MIB] as const);
  return {
    minutes,
    residentMiB: residentMiB(pid),
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    deliveries: times.length,
    files: Object.fromEntries(files),
  };
}

/** By least squares, a minute. */
export function slope(samples: readonly SoakSample[], of: (sample: SoakSample) => number): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const known = samples.filter((sample) => Number.isFinite(of(sample)));
  const [x, y] = [mean(known.map(({ minutes }) => minutes)), mean(known.map(of))];
  const over = known.reduce((sum, sample) => sum + (sample.minutes - x) * (of(sample) - y), 0);
  return over / known.reduce((sum, { minutes }) => sum + (minutes - x) ** 2, 0);
}

/** A file may go at any moment, as -wal files do. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
