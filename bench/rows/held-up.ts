/**
 * At half of its capacity the service is stopped for some seconds (SIGSTOP: a virtual machine that is moved, a disk that
 * hangs), and goes on with a backlog: how long until payments arrive as they did before, and how many were deferred on the way.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { capacity } from '../support/capacity.js';
import { amount } from '../support/format.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { openScene, type Scene } from '../support/scene.js';
import { ROUNDS, SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const URLS = 3;
/** Less than a publisher waits for a lock: the service may be stopped in the middle of a transaction. */
const STOPPED_SECONDS = 8;
/** Half of the capacity is left for it, so as long as it stood still would be the least. */
const LIMIT_SECONDS = 4 * STOPPED_SECONDS;
const LOOK_EVERY_MS = 100;
/** A payment is on time again; all are where so many looks in a row saw no other. */
const ON_TIME_MS = 500;
const LOOKS_IN_A_ROW = 10;
const GIVE_UP_SECONDS = 90;

export const heldUp: Row = {
  name: 'held-up',
  title: `Embedded, half of capacity, stopped for ${STOPPED_SECONDS} s: until payments are on time again`,
  figure: { kind: 'below', value: LIMIT_SECONDS, unit: 's' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const scene = await openScene({}, tell);
  try {
    const perSecond = Math.round((await capacity(scene, URLS)) / 2);
    tell(`half of capacity: ${perSecond} events a second to ${URLS} URLs each`);
    const rounds: { seconds: number; deferred: number }[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { seconds, deferred } = await heldUpOnce(scene, perSecond);
      rounds.push({ seconds, deferred });
      tell(`round ${round}: on time after ${amount(seconds, 's')}, ${deferred} deliveries deferred`);
    }
    return {
      kind: 'measured',
      values: rounds.map(({ seconds }) => seconds),
      sides: [],
      notes: [
        `${perSecond} events a second to ${URLS} URLs each; deferred: ${rounds.map(({ deferred }) => deferred).join()}.`,
      ],
    };
  } finally {
    await scene.close();
  }
}

/** Payments go on coming while it catches up. */
async function heldUpOnce({ service, receivers, publisher }: Scene, perSecond: number) {
  const deferredBefore = await deferredSoFar(service.adminUrl);
  await receivers.ask('timed');
  const steadily = publishing({ publisher }, perSecond);
  try {
    await delay(SECONDS * 1_000);
    process.kill(service.pid, 'SIGSTOP');
    await delay(STOPPED_SECONDS * 1_000).finally(() => process.kill(service.pid, 'SIGCONT'));
    const seconds = await untilOnTime(receivers);
    return { seconds, deferred: (await deferredSoFar(service.adminUrl)) - deferredBefore };
  } finally {
    await steadily.end();
  }
}

/** All the while: where the service is stopped in a transaction, what is published meanwhile waits for it. */
function publishing({ publisher }: Pick<Scene, 'publisher'>, perSecond: number): { end(): Promise<unknown> } {
  const running = publisher.ask('publishSteadily', { perSecond, seconds: Number.POSITIVE_INFINITY });
  // Told by end.
  running.catch(() => undefined);
  return {
    end: async () => {
      await publisher.ask('publishNoMore');
      return running;
    },
  };
}

/** @returns s, from now until payments were on time and stayed so */
async function untilOnTime(receivers: Scene['receivers']): Promise<number> {
  const begin = performance.now();
  const seconds = () => (performance.now() - begin) / 1_000;
  await receivers.ask('latencies');
  let since = 0;
  for (let looks = 0; looks < LOOKS_IN_A_ROW; ) {
    if (seconds() > GIVE_UP_SECONDS) throw new Error(`payments were not on time again within ${GIVE_UP_SECONDS} s`);
    await delay(LOOK_EVERY_MS);
    const times = await receivers.ask('latencies');
    looks = times.length > 0 && percentile(times, 99) < ON_TIME_MS ? looks + 1 : 0;
    if (looks === 1) since = seconds();
  }
  return since;
}

/** Since the service started, whatever the reason. */
async function deferredSoFar(adminUrl: string): Promise<number> {
  const { body } = await request(`${adminUrl}/metrics`);
  const counts = (await body.text()).matchAll(/^account_webhooks_deferred_total\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
