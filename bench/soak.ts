/**
 * make soak: the embedded service at half of its capacity for SOAK_MINUTES; samples of memory, latency and file sizes every
 * SOAK_EVERY_SECONDS, their slopes, and plots. Retention is set to a sixth of the time, so that it is seen to hold.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { soakPlots, soakTable } from './soak/report.js';
import { type SoakSample, soakSample } from './soak/samples.js';
import { capacity } from './support/capacity.js';
import { DOCUMENT, writePart } from './support/document.js';
import { linePlot } from './support/line-plot.js';
import { machine } from './support/machine.js';
import { openScene, type Scene } from './support/scene.js';

const MINUTES = Number(process.env.SOAK_MINUTES || 30);
const EVERY_SECONDS = Number(process.env.SOAK_EVERY_SECONDS || 10);
/** Less is a try. */
const WRITTEN_FROM_MINUTES = 30;
const URLS = 3;
const RETENTION = `${Math.ceil((MINUTES * 60) / 6)}s`;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const scene = await openScene({ settings: { BROKER_RETENTION: RETENTION, RETRY_SCHEDULE: '5s,10s' } }, () => undefined);
const perSecond = Math.round((await capacity(scene, URLS)) / 2);
console.log(`half of capacity: ${perSecond} events a second to ${URLS} URLs each, for ${MINUTES} minutes`);
const samples = await soak(scene, perSecond);
await scene.close();
const about = `${perSecond} events a second to ${URLS} URLs each for ${MINUTES} minutes, with BROKER_RETENTION=${RETENTION}.`;
const table = soakTable(samples);
console.log(`${about}\n\n${table}`);
if (process.env.BENCH_DOCUMENT || MINUTES >= WRITTEN_FROM_MINUTES) write();
process.exit(0);

async function soak({ service, receivers, publisher, settings }: Scene, perSecond: number): Promise<SoakSample[]> {
  const looked = { pid: service.pid, receivers, dataDir: settings.DATA_DIR ?? '' };
  const taken: SoakSample[] = [];
  await receivers.ask('timed');
  const begin = performance.now();
  let publishing = true;
  const published = publisher.ask('publishSteadily', { perSecond, seconds: 60 * MINUTES }).finally(() => {
    publishing = false;
  });
  while (publishing) {
    await Promise.race([delay(EVERY_SECONDS * 1_000), published]);
    const sample = await soakSample((performance.now() - begin) / 60_000, looked);
    taken.push(sample);
    console.log(told(sample));
  }
  await published;
  return taken;
}

function told({ minutes, residentMiB, p50, p99, deliveries }: SoakSample): string {
  const times = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  return `   ${minutes.toFixed(1)} min: ${deliveries} deliveries, ${times}, ${residentMiB.toFixed(0)} MiB resident`;
}

function write(): void {
  const folder = join(dirname(DOCUMENT), 'plots');
  mkdirSync(folder, { recursive: true });
  const images = soakPlots(samples).map(({ file, ...plot }) => {
    writeFileSync(join(folder, `${file}.svg`), linePlot(plot));
    return `![${plot.title}](plots/${file}.svg)`;
  });
  writePart('soak', [`Written by \`make soak\`: ${about} ${machine()}`, table, ...images].join('\n\n'));
}
