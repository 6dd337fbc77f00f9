/**
 * From the answer to a cancellation until a dispatcher that reads the requests topic knows of it: an attempt that begins in
 * between is still made. The API and the dispatcher have a broker of their own each, as in two processes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openBackbone } from '../../src/composition/backbone.js';
import { Requests } from '../../src/delivery/again/requests.js';
import { createCancelDelivery } from '../../src/delivery/again/send-again.js';
import { topicsOf } from '../../src/delivery/topics.js';
import { readConfig } from '../../src/settings/read-config.js';
import { detail } from '../../test/support/recoverable-view.js';
import { silentLogger } from '../../test/support/silent-logger.js';
import { amount } from '../support/format.js';
import { type InstallationOptions, missingForKafka, openInstallation } from '../support/installation.js';
import type { Figure, Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS, SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const CANCELLATIONS = 20 * SECONDS;
const BELOW_100_MS: Figure = { kind: 'below', value: 100, unit: 'ms' };

export const cancel: Row = {
  name: 'cancel',
  title: 'Embedded: from the answer to a cancellation until a dispatcher knows of it, p99',
  figure: BELOW_100_MS,
  run: (tell) => run({}, tell),
};

export const cancelKafka: Row = {
  name: 'cancel-kafka',
  title: 'The same through Kafka',
  figure: BELOW_100_MS,
  async run(tell) {
    const missing = missingForKafka();
    if (missing.length > 0) return { kind: 'not measured', why: `${missing.join(' and ')} missing` };
    return run({ kafka: true }, tell);
  },
};

async function run(options: InstallationOptions, tell: Tell): Promise<Outcome> {
  const installation = await openInstallation(options);
  const config = readConfig(installation.settings);
  const topics = topicsOf(config.paymentTopics, config.topicPrefix);
  const [api, dispatcher] = [await openBackbone(config, silentLogger), await openBackbone(config, silentLogger)];
  const following = new AbortController();
  try {
    await api.broker.ensureTopics([topics.requests]);
    const requests = new Requests({ broker: dispatcher.broker, topics, logger: silentLogger });
    await requests.start(following.signal);
    const cancelDelivery = createCancelDelivery({ broker: api.broker, topics, budget: { take: () => 0 } });
    const times: number[][] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const known: number[] = [];
      for (let n = 0; n < CANCELLATIONS; n += 1) known.push(await untilKnown(requests, cancelDelivery, n));
      times.push(known);
      tell(`round ${round}: p99 ${amount(percentile(known, 99), 'ms')} of ${known.length}`);
    }
    const of = (percent: number) => times.map((round) => percentile(round, percent));
    const sides = [{ name: 'p50', unit: 'ms', values: of(50) } as const];
    return { kind: 'measured', values: of(99), sides, notes: ['One cancellation after the other.'] };
  } finally {
    following.abort();
    await Promise.all([api.close(), dispatcher.close()]);
    await installation.close();
  }
}

/** @returns ms */
async function untilKnown(
  requests: Requests,
  cancelDelivery: ReturnType<typeof createCancelDelivery>,
  n: number,
): Promise<number> {
  const delivery = detail(n);
  const answer = await cancelDelivery([delivery], 'bench');
  const chain = answer.kind === 'requested' ? answer.chain : 0;
  const begun = performance.now();
  while (requests.laterChain({ ...delivery, chain: chain - 1 }) === null) await nextTurn();
  return performance.now() - begun;
}
