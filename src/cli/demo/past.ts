/**
 * Payments of the past: the service's own routing and delivering, on a clock that is set and with attempts that only say what
 * became of them. What comes of it stands where the service looks for it when it starts.
 */
import { SqliteBroker } from '../../adapters/sqlite/broker.js';
import type { StoreFile } from '../../adapters/sqlite/store-file.js';
import type { Core } from '../../composition/core.js';
import type { Attempt } from '../../delivery/attempt/attempt.js';
import { createDeliverySecrets } from '../../delivery/attempt/send.js';
import { fromRetryRecord } from '../../delivery/delivery.js';
import { createDeliver, type Deliver } from '../../delivery/delivery-attempt.js';
import { EndpointHealth } from '../../delivery/endpoint-health.js';
import { createFanOut, type FanOutParts } from '../../delivery/fan-out.js';
import { LogWriter } from '../../delivery/log/log-writer.js';
import { membersOf, overAt } from '../../delivery/retry/bundle.js';
import { BundleWriter } from '../../delivery/retry/bundle-writer.js';
import type { Broker, NewRecord, RecordHandler } from '../../ports/broker.js';
import { createWasRemoved } from '../../read-model/removed-webhooks.js';
import { sleep } from '../../time/retry.js';

const HOLD = { isOwn: () => true, partDone: () => undefined, isPartDone: () => false, keep: () => undefined };
const NEVER = new AbortController().signal;
const ACQUIRED = {
  kind: 'acquired',
  isFailing: false,
  hasWaited: false,
  ended: () => null,
  leave: () => undefined,
} as const;

export class Past {
  /** The clock: ms since the epoch. */
  now: number;
  readonly #core: Core;
  readonly #broker: SqliteBroker;
  readonly #deliver: Deliver;
  readonly #route: RecordHandler;
  readonly #waiting: { readonly tier: string; readonly record: NewRecord; readonly due: number }[] = [];
  /** The service's own last command. */
  #commanded: Promise<unknown> = Promise.resolve();

  constructor(core: Core, begin: number, attempt: Attempt) {
    this.#core = core;
    this.now = begin;
    this.#broker = new SqliteBroker(core.backbone.embedded as StoreFile, undefined, () => this.now);
    const parts = this.#wired(attempt);
    this.#deliver = createDeliver(parts);
    this.#route = createFanOut(parts, this.#deliver);
  }

  async pay(value: Buffer): Promise<void> {
    const [topic] = this.#core.config.PAYMENT_TOPICS;
    const payment = { key: null, value, headers: [] };
    const [offset = 0] = await this.#broker.publish(topic, [payment]);
    await this.#route({ ...payment, topic, partition: 0, offset, timestamp: this.now }, HOLD);
    await this.#commanded;
  }

  /** Until then, each retry is made when it is due. */
  async passTo(at: number): Promise<void> {
    for (;;) {
      const [next] = this.#waiting.sort((one, other) => one.due - other.due);
      if (!next || next.due > at) break;
      this.#waiting.shift();
      this.now = Math.max(this.now, next.due);
      for (const member of membersOf(next.record) ?? []) {
        const delivery = member && fromRetryRecord(member);
        if (delivery) await this.#deliver(delivery, HOLD);
        await this.#commanded;
      }
    }
    this.now = at;
  }

  /** The service's group goes on behind these payments, and with what still waits. */
  async close(): Promise<void> {
    const { PAYMENT_TOPICS: topics, KAFKA_GROUP: group } = this.#core.config;
    const skipping = { handle: async () => undefined };
    const consumer = await this.#broker.consume({ topics, group, inFlight: 1_000, accept: () => skipping });
    while (consumer.state().partitions.some(({ behind }) => behind > 0)) await sleep(10);
    await consumer.close();
    for (const { tier, record } of this.#waiting) await this.#broker.publish(tier, [record]);
  }

  #wired(attempt: Attempt): FanOutParts {
    const { config, logger, accounts, backbone, metrics, history } = this.#core;
    const { DEACTIVATE_AFTER: deactivateAfterMs, DELIVERY_TIMEOUT: timeoutMs } = config;
    const { topics } = backbone;
    const now = () => this.now;
    const publish: Broker['publish'] = async (topic, records) => {
      if (!topics.isTier(topic)) return this.#broker.publish(topic, records);
      for (const record of records) this.#waiting.push({ tier: topic, record, due: overAt(record) });
      return [];
    };
    const handleCommand: FanOutParts['handleCommand'] = (...args) => {
      const handled = this.#core.handleCommand(...args);
      this.#commanded = handled;
      return handled;
    };
    const later = (flush: () => void) => {
      queueMicrotask(flush);
      return () => undefined;
    };
    const publishing = { broker: { publish }, logger, abandon: NEVER, refused: () => undefined };
    return {
      ...this.#core,
      ...publishing,
      ...{ topics, timeoutMs, handleCommand, attempt, now, monotonicNow: now, random: Math.random, interrupt: NEVER },
      metrics: metrics.delivery,
      sealing: backbone.sealing,
      schedule: config.RETRY_SCHEDULE,
      urgentTypes: config.URGENT_EVENT_TYPES,
      log: new LogWriter({ ...publishing, topic: topics.deliveries, store: history, later }),
      bundles: new BundleWriter({ ...publishing, later }),
      wasRemoved: createWasRemoved(backbone.store),
      // Commands show at once in this process.
      confirmation: { confirmed: async () => undefined },
      requests: { laterChain: () => null },
      scheduler: { acquire: async () => ACQUIRED },
      health: new EndpointHealth({ accounts, handleCommand, logger, now, deactivateAfterMs }),
      configuration: createDeliverySecrets(accounts, backbone.sealing, now),
    };
  }
}
