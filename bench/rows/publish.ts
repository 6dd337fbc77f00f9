/**
 * POST /api/payment-events: how many events it takes, and what another account feels of a publisher that floods.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'undici';
import { createRegistration } from '../../src/accounts/registration.js';
import { openBackbone } from '../../src/composition/backbone.js';
import { createLogger } from '../../src/observability/logger.js';
import { readConfig } from '../../src/settings/read-config.js';
import type { Service, Settings } from '../../test/support/clients/service.js';
import type { handlers as loadHandlers } from '../processes/http-load.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { type Installation, onEither, openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { feltBeside } from '../support/small-account.js';
import { percentile } from '../support/statistics.js';
import { tokenOf } from '../support/tokens.js';

/** It has webhooks. */
const HEALTHY = 1;
/** It has none: publishing alone is measured. */
const SILENT = 2;
const LINES = 500;
/** Nearly as much as a publisher may have in progress. */
const FLOODING = 24;
const MEMORY_LIMIT_MIB = 300;

export const publish: readonly Row[] = [
  ...onEither(
    {
      name: 'publish',
      title: 'POST /api/payment-events, one event, 32 at once, embedded',
      figure: { kind: 'at least', value: 2_000, unit: 'a second' },
    },
    rates,
  ),
  {
    name: 'publish-flood',
    title: `A publisher floods, ${FLOODING} connections with ${LINES} events a request: p99 of an account's GETs and deliveries, the worse`,
    figure: { kind: 'below', value: 250, unit: 'ms' },
    run: flood,
  },
];

interface Scene extends Installation {
  readonly service: Service;
  readonly publisherToken: string;
  readonly load: Child<typeof loadHandlers>;
}

async function open(tell: Tell, { kafka } = { kafka: false }): Promise<Scene> {
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
}

async function rates(on: { readonly kafka: boolean }, tell: Tell): Promise<Outcome> {
  const scene = await open(tell, on);
  try {
    const windows = await eachRound(
      tell,
      (round) => loaded(scene, { connections: 32, events: 1, warmUpSeconds: round === 1 ? WARM_UP_SECONDS : 0 }),
      ({ perSecond }) => amount(perSecond, 'a second'),
    );
    const times = (percent: number) => windows.map((window) => percentile(window.times, percent));
    const sides = [
      { name: 'p50', unit: 'ms' as const, values: times(50) },
      { name: 'p99', unit: 'ms' as const, values: times(99) },
    ];
    return { kind: 'measured', values: windows.map(({ perSecond }) => perSecond), sides, notes: [] };
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

async function flood(tell: Tell): Promise<Outcome> {
  const scene = await open(tell);
  const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
  try {
    await publisher.ask('open', { settings: scene.settings, accounts: { first: HEALTHY, count: 1 } });
    const account = { ...scene, publisher, token: await tokenOf(scene.service.url, HEALTHY) };
    const disturb = async () => {
      const seconds = WARM_UP_SECONDS + SECONDS;
      const flooding = loaded(scene, { connections: FLOODING, events: LINES, warmUpSeconds: 0, seconds });
      return async () => `${amount((await flooding).perSecond * LINES, 'a second')} published`;
    };
    return await feltBeside(account, { flooded: disturb }, { tell, limitMiB: MEMORY_LIMIT_MIB });
  } finally {
    await publisher.stop();
    await scene.close();
  }
}
