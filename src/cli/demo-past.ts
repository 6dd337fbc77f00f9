/**
 * Payments of the past: the service's own routing and delivering, on a clock that is set and with attempts that only say what
 * became of them. What comes of it stands where the service looks for it when it starts.
 */
import { SqliteBroker } from '../adapters/sqlite/broker.js';
import type { StoreFile } from '../adapters/sqlite/store-file.js';
import type { Core } from '../composition/core.js';
import type { Attempt } from '../delivery/attempt/attempt.js';
import { createDeliverySecrets } from '../delivery/attempt/send.js';
import { fromRetryRecord, overAt } from '../delivery/delivery.js';
import { createDeliver } from '../delivery/delivery-attempt.js';
import { EndpointHealth } from '../delivery/endpoint-health.js';
import { createFanOut, type FanOutParts } from '../delivery/fan-out.js';
import { LogWriter } from '../delivery/log/log-writer.js';
import { topicsOf } from '../delivery/topics.js';
import type { Consumer, NewRecord } from '../ports/broker.js';
import { createWasRemoved } from '../read-model/removed-webhooks.js';

const HOLD = { isOwn: () => true, partDone: () => undefined, isPartDone: () => false };
const NEVER = new AbortController().signal;

interface Waiting {
  readonly tier: string;
  readonly record: NewRecord;
  readonly due: number;
}

export class Past {
  /** The clock: ms since the epoch. */
  now: number;
  readonly #core: Core;
  readonly #broker: SqliteBroker;
  readonly #log: LogWriter;
  readonly #parts: FanOutParts;
  readonly #deliver: ReturnType<typeof createDeliver>;
  readonly #waiting: Waiting[] = [];
  #consumer: Consumer | null = null;
  #routed: () => void = () => undefined;
  /** The service's own last command. */
  #commanded: Promise<unknown> = Promise.resolve();

  constructor(core: Core, begin: number, attemptAt: (now: () => number) => Attempt) {
    this.#core = core;
    this.now = begin;
    this.#broker = new SqliteBroker(core.backbone.embedded as StoreFile, undefined, () => this.now);
    const { topics, ...publishing } = this.#publishing();
    const later = (flush: () => void) => {
      queueMicrotask(flush);
      return () => undefined;
    };
    this.#log = new LogWriter({ ...publishing, topic: topics.deliveries, store: core.history, later });
    this.#parts = { ...publishing, ...this.#deciding(), topics, log: this.#log, attempt: attemptAt(() => this.now) };
    this.#deliver = createDeliver(this.#parts);
  }

  /** Consumes by the service's group, which goes on behind these payments. */
  async open(): Promise<void> {
    const { paymentTopics: topics, delivery } = this.#core.config;
    const route = createFanOut(this.#parts, this.#deliver);
    this.#consumer = await this.#broker.consume({
      ...{ topics, group: delivery.group, inFlight: 1 },
      handler: (record, hold) => route(record, hold).finally(() => this.#routed()),
    });
  }

  async pay(value: Buffer): Promise<void> {
    const routed = new Promise<void>((resolve) => {
      this.#routed = resolve;
    });
    await this.#broker.publish(this.#core.config.paymentTopics[0], [{ key: null, value, headers: [] }]);
    await routed;
    await this.#commanded;
  }

  /** Until then, each retry is made when it is due. */
  async passTo(at: number): Promise<void> {
    for (;;) {
      const [next] = this.#waiting.sort((one, other) => one.due - other.due);
      const delivery = next && next.due <= at ? fromRetryRecord(next.record) : null;
      if (!next || !delivery) break;
      this.#waiting.shift();
      this.now = Math.max(this.now, next.due);
      await this.#deliver(delivery, HOLD);
      await this.#commanded;
    }
    this.now = at;
  }

  /** What still waits is left to the service. */
  async close(): Promise<void> {
    await this.#consumer?.close();
    for (const { tier, record } of this.#waiting) await this.#broker.publish(tier, [record]);
  }

  #publishing() {
    const { config, logger } = this.#core;
    const topics = topicsOf(config.paymentTopics, config.topicPrefix);
    const publish = async (topic: string, records: readonly NewRecord[]) => {
      if (!topics.isTier(topic)) return this.#broker.publish(topic, records);
      for (const record of records) this.#waiting.push({ tier: topic, record, due: overAt(record) });
      return [];
    };
    return { broker: { publish }, topics, logger, abandon: NEVER, refused: () => undefined };
  }

  #deciding() {
    const { config, logger, accounts, backbone, catalogue, metrics, tracing } = this.#core;
    const now = () => this.now;
    const { deactivateAfterMs, timeoutMs } = config.delivery;
    const handleCommand: FanOutParts['handleCommand'] = (...args) => {
      const handled = this.#core.handleCommand(...args);
      this.#commanded = handled;
      return handled;
    };
    return {
      ...{ accounts, catalogue, handleCommand, tracing, metrics: metrics.delivery, sealing: backbone.sealing },
      ...{ now, monotonicNow: now, random: Math.random, timeoutMs, schedule: config.retrySchedule },
      interrupt: NEVER,
      wasRemoved: createWasRemoved(backbone.store),
      // Commands show at once in this process.
      confirmation: { confirmed: async () => undefined },
      requests: { laterChain: () => null },
      scheduler: {
        acquire: async () =>
          ({ kind: 'acquired', hasSucceededLately: true, ended: () => null, leave: () => undefined }) as const,
      },
      health: new EndpointHealth({ accounts, handleCommand, logger, now, deactivateAfterMs }),
      configuration: createDeliverySecrets(accounts, backbone.sealing, now),
    };
  }
}
