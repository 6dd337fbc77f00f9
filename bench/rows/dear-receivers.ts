/**
 * What a small account feels of one whose three receivers make each attempt cost CPU, mostly with a 2xx, for which no breaker
 * opens; and of one whose payments have 20,000 headers each, on either broker.
 */
import { appendFileSync } from 'node:fs';
import type { handlers as dearHandlers } from '../processes/dear-receivers.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from '../support/child.js';
import { onEither, openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import type { Outcome, Tell } from '../support/row.js';
import { SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { feltBeside, type SmallAccount } from '../support/small-account.js';
import { tokenOf } from '../support/tokens.js';

const SMALL = 1;
const URLS = 3;
const DEAR_PER_SECOND = 5;
const HEADERS = 20_000;
const MEMORY_LIMIT_MIB = 350;

type Publisher = Child<typeof publisherHandlers>;

export const dearReceivers = onEither(
  {
    name: 'dear-receivers',
    title: "Receivers that make attempts cost CPU: p99 of another account's GETs and deliveries, the worse",
    figure: { kind: 'below', value: 250, unit: 'ms' },
  },
  run,
  { name: 'many-headers-kafka', title: 'Records with 20,000 headers through Kafka: the same' },
);

interface On {
  /** The receivers cost the same on either broker: only the headers are tried then. */
  readonly kafka: boolean;
}

interface Scene extends SmallAccount {
  /** Of the account of each way. */
  readonly dear: ReadonlyMap<string, Publisher>;
  close(): Promise<void>;
}

async function run(on: On, tell: Tell): Promise<Outcome> {
  const scene = await open(on, tell);
  const disturb = (publisher: Publisher) => async () => {
    const seconds = WARM_UP_SECONDS + SECONDS;
    const publishing = publisher.ask('publishSteadily', { perSecond: DEAR_PER_SECOND, seconds });
    return () => publishing.then(() => '');
  };
  const ways = Object.fromEntries([...scene.dear].map(([way, publisher]) => [way, disturb(publisher)]));
  return feltBeside(scene, ways, { tell, limitMiB: MEMORY_LIMIT_MIB }).finally(scene.close);
}

async function open({ kafka }: On, tell: Tell): Promise<Scene> {
  const receiving: Child<typeof dearHandlers> = await Child.start('dear-receivers');
  const { receivers: all, ca } = await receiving.ask('listen');
  const receivers = kafka ? [] : all;
  const installation = await openInstallation({ kafka, settings: { ALLOWED_PORTS: '443,1024-65535' } });
  const { settings, origins } = installation;
  appendFileSync(settings.DELIVERY_CA_FILE ?? '', `\n${ca}`);
  const urls = (accountId: number) =>
    accountId === SMALL
      ? origins.map((origin) => `${origin}/payments`)
      : Array.from(
          { length: URLS },
          (_, n) => `https://localhost:${receivers[accountId - SMALL - 1]?.port ?? 443}/${n}`,
        );
  await populate(settings, { accounts: SMALL + receivers.length + 1, urls }, tell);
  const service = await startService(settings);
  const publisherOf = async (first: number, headers = 0): Promise<Publisher> => {
    const publisher: Publisher = await Child.start('publisher');
    await publisher.ask('open', { settings, accounts: { first, count: 1 }, headers });
    return publisher;
  };
  const publisher = await publisherOf(SMALL);
  const dear = new Map<string, Publisher>();
  for (const [index, { way }] of receivers.entries()) dear.set(way, await publisherOf(SMALL + 1 + index));
  dear.set('records with 20,000 headers', await publisherOf(SMALL + receivers.length + 1, HEADERS));
  const close = async () => {
    await Promise.all([publisher, ...dear.values()].map((child) => child.stop()));
    await service.stop('SIGTERM');
    await Promise.all([installation.close(), receiving.stop()]);
  };
  return { ...installation, service, publisher, dear, token: await tokenOf(service.url, SMALL), close };
}
