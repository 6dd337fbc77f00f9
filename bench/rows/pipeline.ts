/**
 * Deliveries a second, each event to three URLs over TLS, against undici alone: the same bytes, on as many connections, to
 * the same receivers. They take turns. The service takes the events from its broker, where they are being
 * published meanwhile, and parses, routes and signs them, and writes each attempt down.
 */
import type { handlers as loopHandlers } from '../processes/bare-loop.js';
import { Child } from '../support/child.js';
import { Feed } from '../support/feed.js';
import { amount } from '../support/format.js';
import { onEither } from '../support/installation.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Tell } from '../support/row.js';
import { ACCOUNTS, openScene, type Scene } from '../support/scene.js';
import { summary } from '../support/statistics.js';
import { deliveryTurn, type Sending, type Throughput } from '../support/turn.js';

const URLS = 3;
/** ENDPOINT_CONCURRENCY as it is unless set; each account and URL is an endpoint. */
const CONNECTIONS = 16 * ACCOUNTS;

export const pipeline = onEither(
  {
    name: 'pipeline',
    title: 'Embedded: 1 event to 3 URLs over TLS, against a bare undici loop',
    figure: { kind: 'at least', value: 0.5, unit: 'ratio' },
  },
  run,
  { figure: { kind: 'at least', value: 0.45, unit: 'ratio' } },
);

interface Round {
  readonly bare: Throughput;
  readonly service: Throughput;
}

async function run({ kafka }: { kafka: boolean }, tell: Tell): Promise<Outcome> {
  const scene = await openScene({ kafka }, tell);
  const loop: Child<typeof loopHandlers> = await Child.start('bare-loop');
  try {
    const sides = sidesOf(scene, loop);
    tell('warming up');
    await round(scene, sides);
    const said = ({ bare, service }: Round) =>
      `undici ${amount(bare.perSecond, 'a second')}, the service ${amount(service.perSecond, 'a second')}`;
    return outcome(await eachRound(tell, () => round(scene, sides), said));
  } finally {
    await loop.stop();
    await scene.close();
  }
}

function sidesOf(scene: Scene, loop: Child<typeof loopHandlers>): Readonly<Record<keyof Round, Sending>> {
  const { origins, ca, service } = scene;
  const feed = new Feed(scene, URLS);
  return {
    bare: {
      pid: loop.pid,
      begin: () => loop.ask('begin', { origins, ca, connections: CONNECTIONS }),
      end: () => loop.ask('end'),
    },
    service: { pid: service.pid, begin: () => feed.start(), end: () => feed.stop() },
  };
}

async function round({ receivers }: Scene, sides: Readonly<Record<keyof Round, Sending>>) {
  const bare = await deliveryTurn(receivers, sides.bare);
  const service = await deliveryTurn(receivers, sides.service);
  return { bare, service };
}

function outcome(rounds: readonly Round[]): Outcome {
  const median = (of: (round: Round) => number) => summary(rounds.map(of)).median;
  const us = (side: keyof Round) => `${Math.round(median((round) => round[side].cpuUs))} us`;
  const busy = (side: keyof Round) => `${Math.round(100 * median((round) => round[side].receiversBusy))} %`;
  const perSecond = (side: keyof Round) => rounds.map((round) => round[side].perSecond);
  const costs = amount(
    median(({ service, bare }) => service.cpuUs / bare.cpuUs),
    'ratio',
  );
  return {
    kind: 'measured',
    values: rounds.map(({ bare, service }) => service.perSecond / bare.perSecond),
    sides: [
      { name: 'undici request()', unit: 'a second', values: perSecond('bare') },
      { name: 'the service', unit: 'a second', values: perSecond('service') },
    ],
    notes: [
      `CPU a delivery: ${us('bare')} by request(), ${us('service')} in the service: ${costs} of them.`,
      `The receivers used ${busy('bare')} of a core under request(), ${busy('service')} under the service.`,
    ],
  };
}
