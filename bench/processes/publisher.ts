/**
 * A payment system in a process of its own: publishes to the installation's broker, by the service's own adapters.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openBackbone } from '../../src/composition/backbone.js';
import { createLogger } from '../../src/observability/logger.js';
import type { Broker, NewRecord } from '../../src/ports/broker.js';
import { readConfig } from '../../src/settings/read-config.js';
import { answerParent } from '../support/child.js';
import { machineMs } from '../support/clock.js';
import { payment } from '../support/payments.js';

export interface Accounts {
  readonly first: number;
  readonly count: number;
}

interface Opening {
  readonly settings: Record<string, string>;
  readonly accounts: Accounts;
  readonly headers?: number;
  readonly type?: string;
}

let broker: Pick<Broker, 'publish'>;
let topic = '';
let accounts: Accounts = { first: 1, count: 1 };
let headers: NewRecord['headers'] = [];
let type: string | undefined;
let published = 0;
let noMore = false;

export const handlers = {
  /** @param given.headers how many each record has */
  open: async (given: Opening): Promise<void> => {
    const config = readConfig(given.settings);
    ({ broker } = await openBackbone(config, createLogger('warn')));
    topic = config.PAYMENT_TOPICS[0];
    ({ accounts, type } = given);
    headers = Array.from({ length: given.headers ?? 0 }, (_, n) => [`h${n}`, Buffer.from(String(n))]);
  },
  /** Fulfilled when all are durable. */
  publish: async (count: number): Promise<void> => {
    const records = Array.from({ length: count }, () => next(machineMs()));
    await broker.publish(topic, records);
  },
  /**
   * So many a second, each when its time has come, whatever became of those before it; until the time is over, or nothing
   * more is asked for. @returns how many, when all are durable
   */
  publishSteadily: async ({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<number> => {
    const begin = machineMs();
    const count = Math.round(perSecond * seconds);
    let [sent, durable] = [0, 0];
    let failure: unknown;
    noMore = false;
    while (failure === undefined && (durable < sent || (sent < count && !noMore))) {
      const now = machineMs();
      for (; sent < count && !noMore && dueAt(sent) <= now; sent += 1) {
        broker.publish(topic, [next(dueAt(sent))]).then(
          () => (durable += 1),
          (error: unknown) => (failure = error),
        );
      }
      await delay(1);
    }
    if (failure !== undefined) throw failure;
    return sent;

    function dueAt(n: number): number {
      return begin + (1_000 * n) / perSecond;
    }
  },
  publishNoMore: (): void => {
    noMore = true;
  },
};

function next(at: number): NewRecord {
  const accountId = accounts.first + (published % accounts.count);
  published += 1;
  const value = payment(`pay-${process.pid}-${published}`, accountId, { at, type });
  return { key: Buffer.from(String(accountId)), value, headers };
}

answerParent(handlers);
