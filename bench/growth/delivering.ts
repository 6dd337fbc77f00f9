/** Along the URLs an event goes to, and along the size of a payment: deliveries a second, and what each costs. */
import { Feed } from '../support/feed.js';
import { PAYMENT_BYTES } from '../support/payments.js';
import type { Tell } from '../support/row.js';
import { openScene } from '../support/scene.js';
import { deliveryTurn, type Throughput } from '../support/turn.js';
import type { Growing, Grown } from './grown.js';

const PATHS = ['/one', '/two', '/three'];
const KIB = 1_024;
/** 256 KiB is the most that is delivered. */
const PAYLOADS_KIB = [0.2, 1, 4, 16, 64, 256];

interface Point extends Throughput {
  readonly size: number;
}

export const urls: Growing = {
  name: 'urls',
  async run(tell) {
    const points: Point[] = [];
    for (const size of [1, 2, 3]) points.push({ size, ...(await throughput(PATHS.slice(0, size), PAYMENT_BYTES)) });
    told(points, tell);
    return {
      ...grown('URLs of an event', points),
      plots: [
        {
          file: 'urls',
          title: 'Throughput',
          x: { label: 'URLs of an event', log: false },
          y: { label: 'a second', log: false },
          lines: [
            { name: 'deliveries', points: points.map(({ size, perSecond }) => [size, perSecond]) },
            { name: 'events', points: points.map(({ size, perSecond }) => [size, perSecond / size]) },
          ],
        },
      ],
    };
  },
};

export const payload: Growing = {
  name: 'payload',
  async run(tell) {
    const points: Point[] = [];
    for (const size of PAYLOADS_KIB) points.push({ size, ...(await throughput(PATHS, Math.floor(size * KIB))) });
    told(points, tell);
    return {
      ...grown('payload, KiB', points),
      plots: [
        {
          file: 'payload',
          title: 'Throughput to 3 URLs each',
          x: { label: 'payload, KiB', log: true },
          y: { label: 'a second', log: true },
          lines: [
            { name: 'deliveries', points: points.map(({ size, perSecond }) => [size, perSecond]) },
            { name: 'MiB', points: points.map(({ size, perSecond }) => [size, (size * perSecond) / KIB]) },
          ],
        },
      ],
    };
  },
};

async function throughput(paths: readonly string[], bytes: number): Promise<Throughput> {
  const scene = await openScene({ paths, bytes }, () => undefined);
  try {
    const feed = new Feed(scene, paths.length, bytes);
    const sending = { pid: scene.service.pid, begin: () => feed.start(), end: () => feed.stop() };
    // The first makes it warm.
    await deliveryTurn(scene.receivers, sending);
    return await deliveryTurn(scene.receivers, sending);
  } finally {
    await scene.close();
  }
}

function told(points: readonly Point[], tell: Tell): void {
  for (const { size, perSecond } of points) tell(`${size}: ${Math.round(perSecond)} deliveries a second`);
}

function grown(label: string, points: readonly Point[]): Omit<Grown, 'plots'> {
  return {
    head: [label, 'deliveries a second', 'CPU each, us'],
    rows: points.map(({ size, perSecond, cpuUs }) => [
      String(size),
      Math.round(perSecond).toLocaleString('en-US'),
      Math.round(cpuUs).toLocaleString('en-US'),
    ]),
  };
}
