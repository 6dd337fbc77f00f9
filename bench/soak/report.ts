/** The soak's table and plots. The first third is not counted in a slope: caches fill, the heap finds its size. */
import type { LinePlot } from '../support/line-plot.js';
import { simpleTable } from '../support/simple-table.js';
import { type SoakSample, slope } from './samples.js';

/** Smaller ones are locks and keys. */
const SHOWN_MIB = 0.5;

export function soakTable(samples: readonly SoakSample[]): string {
  const counted = samples.filter(({ minutes }) => minutes >= (samples.at(-1)?.minutes ?? 0) / 3);
  const row = (name: string, unit: string, of: (sample: SoakSample) => number) => {
    const values = counted.map(of).filter(Number.isFinite);
    const figure = (value: number) => value.toFixed(1);
    const ends = [values[0], values.at(-1), Math.max(...values)].map((value) => figure(value ?? Number.NaN));
    return [`${name}, ${unit}`, ...ends, slope(counted, of).toFixed(3)];
  };
  return simpleTable(
    ['after the first third', 'first', 'last', 'most', 'slope a minute'],
    [
      row('resident memory', 'MiB', ({ residentMiB }) => residentMiB),
      row('publish to received, p50', 'ms', ({ p50 }) => p50),
      row('publish to received, p99', 'ms', ({ p99 }) => p99),
      ...shownFiles(samples).map((name) => row(`\`${name}\``, 'MiB', ({ files }) => files[name] ?? 0)),
    ],
  );
}

export function soakPlots(samples: readonly SoakSample[]): (LinePlot & { file: string })[] {
  const x = { label: 'minutes', log: false };
  const line = (name: string, of: (sample: SoakSample) => number) => ({
    name,
    points: samples
      .filter((sample) => Number.isFinite(of(sample)))
      .map((sample) => [sample.minutes, of(sample)] as const),
  });
  return [
    {
      file: 'soak-memory',
      title: 'Resident memory at half of capacity',
      x,
      y: { label: 'MiB', log: false },
      lines: [line('the service', ({ residentMiB }) => residentMiB)],
    },
    {
      file: 'soak-latency',
      title: 'Publish to received at half of capacity',
      x,
      y: { label: 'ms', log: false },
      lines: [line('p99', ({ p99 }) => p99), line('p50', ({ p50 }) => p50)],
    },
    {
      file: 'soak-files',
      title: 'Files of DATA_DIR at half of capacity',
      x,
      y: { label: 'MiB', log: false },
      lines: shownFiles(samples).map((name) => line(name, ({ files }) => files[name] ?? 0)),
    },
  ];
}

function shownFiles(samples: readonly SoakSample[]): string[] {
  const names = new Set(samples.flatMap(({ files }) => Object.keys(files)));
  return [...names].filter((name) => samples.some(({ files }) => (files[name] ?? 0) > SHOWN_MIB));
}
