/**
 * POST /api/payment-events: how many events it takes, how soon they arrive, and what another account feels of a publisher
 * that floods.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { createRegistration } from '../../src/accounts/registration.js';
import { openBackbone } from '../../src/composition/backbone.js';
import { createLogger } from '../../src/observability/logger.js';
import { readConfig } from '../../src/settings/read-config.js';
import { peakMemoryMiB } from '../../test/support/process-stats.js';
import type { Service, Settings } from '../../test/support/service.js';
import type { handlers as loadHandlers } from '../processes/http-load.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { type Installation, missingForKafka, openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS, SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { type Felt, felt, feltText } from '../support/small-account.js';
import { percentile } from '../support/statistics.js';
import { tokenOf } from '../support/tokens.js';

/** It has webhooks. */
const HEALTHY = 1;
/** It has none: publishing alone is measured. */
const SILENT = 2;
const LINES = 500;
/** Nearly as much as a publisher may have in progress. */
const FLOODING = 24;
const PER_SECOND = 50;
const MEMORY_LIMIT_MIB = 300;
const ARRIVED_WITHIN_MS = 30_000;

export const publish: Row = {
  name: 'publish',
  title: 'POST /api/payment-events, one event, 32 at once, embedded',
  figure: { kind: 'at least', value: 2_000, unit: 'a second' },
  run: (tell) => rates(tell, { connections: 32, events: 1 }),
};

export const publishKafka: Row = {
  name: 'publish-kafka',
  title: 'The same through Kafka',
  figure: { kind: 'at least', value: 2_000, unit: 'a second' },
  async run(tell) {
    const missing = missingForKafka();
    if (missing.length > 0) return { kind: 'not measured', why: `${missing.join(' and ')} missing` };
    return rates(tell, { connections: 32, events: 1, kafka: true });
  },
};

export const publishLines: Row = {
  name: 'publish-lines',
  title: `POST /api/payment-events, NDJSON of ${LINES} events of 800 bytes, 4 at once, embedded: events`,
  figure: { kind: 'at least', value: 20_000, unit: 'a second' },
  run: (tell) => rates(tell, { connections: 4, events: LINES }),
};

export const publishLatency: Row = {
  name: 'publish-latency',
  title: `POST /api/payment-events to received, ${PER_SECOND} events/s to one URL, embedded, p50`,
  figure: { kind: 'below', value: 10, unit: 'ms' },
  run: latency,
};

export const publishFlood: Row = {
  name: 'publish-flood',
  title: `A publisher floods, ${FLOODING} connections with ${LINES} events a request: p99 of an account's GETs and deliveries, the worse`,
  figure: { kind: 'below', value: 250, unit: 'ms' },
  run: flood,
};

interface Scene extends Installation {
  readonly service: Service;
  readonly publisherToken: string;
  readonly load: Child<typeof loadHandlers>;
}

async function open(tell: Tell, kafka = false): Promise<Scene> {
  const installation = await openInstallation({ kafka, receivers: 1 });
  const { settings, origins } = installation;
  const urls = (accountId: number) => (accountId === HEALTHY ? origins.map((origin) => `${origin}/payments`) : []);
  await populate(settings, { accounts: SILENT, urls }, tell);
  const service = await startService(settings);
  const load: Scene['load'] = await Child.start('http-load');
  const close = async () => {
    await Promise.all([load.stop(), service.stop('SIGTERM')]);
    await installation.close();
  };
  return { ...installation, service, load, publisherToken: await publisherTokenOf(service.url, settings), close };
}

async function publisherTokenOf(url: string, settings: Settings): Promise<string> {
  const { store, sealing, close } = await openBackbone(readConfig(settings), createLogger('warn'));
  const parts = { store, sealing, randomBytes, newEventId: randomUUID, now: () => new Date() };
  const context = { actor: 'bench', requestId: 'bench', correlationId: 'bench' };
  const { clientId, clientSecret } = await createRegistration(parts).registerPublisher('bench', context);
  await close();
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const asked = { method: 'POST', headers, body: String(new URLSearchParams(form)) } as const;
  const { body } = await request(`${url}/oauth/token`, asked);
  return ((await body.json()) as { access_token: string }).access_token;
}

interface Size {
  readonly connections: number;
  readonly events: number;
  readonly kafka?: boolean;
}

async function rates(tell: Tell, { connections, events, kafka }: Size): Promise<Outcome> {
  const scene = await open(tell, kafka);
  try {
    const [values, p50, p99]: [number[], number[], number[]] = [[], [], []];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const warmUpSeconds = round === 1 ? WARM_UP_SECONDS : 0;
      const { perSecond, times } = await loaded(scene, { connections, events, warmUpSeconds });
      values.push(perSecond * events);
      p50.push(percentile(times, 50));
      p99.push(percentile(times, 99));
      tell(`round ${round}: ${amount(perSecond * events, 'a second')}`);
    }
    const sides = [
      { name: 'p50', unit: 'ms' as const, values: p50 },
      { name: 'p99', unit: 'ms' as const, values: p99 },
    ];
    return { kind: 'measured', values, sides, notes: [memoryNote(scene)] };
  } finally {
    await scene.close();
  }
}

function loaded({ load, service, publisherToken }: Scene, size: Size & { warmUpSeconds: number; seconds?: number }) {
  const { connections, events, warmUpSeconds, seconds = SECONDS } = size;
  return load.ask('load', {
    port: Number(new URL(service.url).port),
    connections,
    warmUpSeconds,
    seconds,
    requests: { kind: 'publish', tokens: [publisherToken], accountId: SILENT, events },
  });
}

async function latency(tell: Tell): Promise<Outcome> {
  const scene = await open(tell);
  const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
  try {
    const http = { url: scene.service.url, token: scene.publisherToken };
    await publisher.ask('open', { settings: scene.settings, accounts: { first: HEALTHY, count: 1 }, http });
    await scene.receivers.ask('timed');
    const rounds: number[][] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const times = await arrivals(scene, publisher, round === 0 ? WARM_UP_SECONDS : SECONDS);
      if (round === 0) continue;
      rounds.push(times);
      tell(`round ${round}: p50 ${amount(percentile(times, 50), 'ms')} of ${times.length}`);
    }
    const of = (percent: number) => rounds.map((times) => percentile(times, percent));
    const sides = [{ name: 'p99', unit: 'ms' as const, values: of(99) }];
    const notes = ['From the moment at which the request was due, which is before its 202.'];
    return { kind: 'measured', values: of(50), sides, notes };
  } finally {
    await publisher.stop();
    await scene.close();
  }
}

/** ms, of each event. */
async function arrivals(
  { receivers }: Scene,
  publisher: Child<typeof publisherHandlers>,
  seconds: number,
): Promise<number[]> {
  const before = await receivers.ask('sample');
  const published = await publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds });
  const deadline = performance.now() + ARRIVED_WITHIN_MS;
  while ((await receivers.ask('sample')).answered - before.answered < published) {
    if (performance.now() > deadline) throw new Error('events are missing');
    await delay(20);
  }
  return receivers.ask('latencies');
}

async function flood(tell: Tell): Promise<Outcome> {
  const scene = await open(tell);
  const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
  try {
    await publisher.ask('open', { settings: scene.settings, accounts: { first: HEALTHY, count: 1 } });
    const account = { ...scene, publisher, token: await tokenOf(scene.service.url, HEALTHY) };
    const quiet = await felt(account);
    tell(`nobody else: ${feltText(quiet)}`);
    const [rounds, rates]: [Felt[], number[]] = [[], []];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const flooding = loaded(scene, { connections: FLOODING, events: LINES, warmUpSeconds: 0, seconds: SECONDS + 2 });
      await delay(1_000);
      const seen = await felt(account);
      rounds.push(seen);
      rates.push((await flooding).perSecond * LINES);
      tell(`round ${round}: ${feltText(seen)}, ${amount(rates.at(-1) ?? 0, 'a second')} published`);
    }
    const sides = [
      { name: 'GETs', unit: 'ms' as const, values: rounds.map(({ gets }) => gets) },
      { name: 'deliveries', unit: 'ms' as const, values: rounds.map(({ deliveries }) => deliveries) },
      { name: 'published', unit: 'a second' as const, values: rates },
    ];
    const values = rounds.map(({ gets, deliveries }) => Math.max(gets, deliveries));
    return { kind: 'measured', values, sides, notes: [memoryNote(scene), `With nobody else: ${feltText(quiet)}.`] };
  } finally {
    await publisher.stop();
    await scene.close();
  }
}

function memoryNote({ service }: Scene): string {
  const memoryMiB = peakMemoryMiB(service.pid);
  const holds = memoryMiB < MEMORY_LIMIT_MIB ? 'below' : 'NOT below';
  return `Most resident: ${amount(memoryMiB, 'MiB')}, ${holds} ${MEMORY_LIMIT_MIB}.`;
}
