/** createDeliver with parts that the test controls: the broker's topics, the webhooks, the results of attempts. */
import { type Request, requestIn } from '../../../src/delivery/again/request.js';
import { Requests } from '../../../src/delivery/again/requests.js';
import type { AttemptRequest, AttemptResult } from '../../../src/delivery/attempt/attempt.js';
import type { Delivery } from '../../../src/delivery/delivery.js';
import { createDeliver } from '../../../src/delivery/delivery-attempt.js';
import { EndpointHealth } from '../../../src/delivery/endpoint-health.js';
import { createFanOut, type FanOutParts } from '../../../src/delivery/fan-out.js';
import type { DeliveryScheduler } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { readLogRecord } from '../../../src/delivery/log/log-record.js';
import { LogWriter } from '../../../src/delivery/log/log-writer.js';
import { waitOf } from '../../../src/delivery/retry/bundle.js';
import { BundleWriter } from '../../../src/delivery/retry/bundle-writer.js';
import { eachStepOnce } from '../../../src/delivery/steps-once.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import { loadCatalogue } from '../../../src/payments/event-catalogue.js';
import type { Broker, BrokerRefused, NewRecord, ReceivedRecord, RecordHold } from '../../../src/ports/broker.js';
import type { DeliveryLogEntry, RoutedEntry } from '../../../src/ports/log-entry.js';
import type { Command, Decision } from '../../../src/webhooks/decide.js';
import { testScheduler } from '../clocks/test-scheduler.js';
import { VirtualClock } from '../clocks/virtual-clock.js';
import { deliveriesIn } from '../generators/bundles.js';
import { ACCOUNT, DELIVERED, deliveryTo, NOW } from '../generators/delivery-samples.js';
import { RecordingBroker } from '../servers/recording-broker.js';
import { FakeAccounts, webhookOf } from './fake-accounts.js';
import { MemoryRequestChains } from './memory-request-chains.js';
import { noDeliveryMetrics } from './no-metrics.js';
import { recordingLogger } from './recording-logger.js';

export const SCHEDULE = [
  { text: '5s', ms: 5_000 },
  { text: '5m', ms: 300_000 },
  { text: '2h', ms: 7_200_000 },
] as const;

/** The hold of a record that stays with this consumer. */
export const OWN: RecordHold = {
  isOwn: () => true,
  partDone: () => undefined,
  isPartDone: () => false,
  keep: () => undefined,
};

/** Receives the attempt's request; its result may be awaited. */
type Answer = (request: AttemptRequest) => AttemptResult | Promise<AttemptResult>;

export interface Waiting {
  readonly tier: string;
  readonly due: number;
  readonly delivery: Delivery;
}

export class DeliverFixture {
  readonly topics = topicsOf(['payment-events'], '');
  readonly broker = new RecordingBroker();
  readonly accounts = new FakeAccounts();
  readonly requests: AttemptRequest[] = [];
  readonly commands: { accountId: number; command: Command; actor: string }[] = [];
  readonly logger = recordingLogger();
  readonly interrupt = new AbortController();
  readonly abandon = new AbortController();
  /** Elapsed time, also the scheduler's. The time of day stands still: see `parts.now`. */
  readonly clock = new VirtualClock();
  /** With what the broker refused a publish for good. */
  readonly refusals: BrokerRefused[] = [];
  readonly scheduler: DeliveryScheduler;
  readonly parts: FanOutParts & { readonly broker: Broker; readonly scheduler: DeliveryScheduler };
  /** The result of the next attempts. */
  answer: Answer = () => DELIVERED;
  decision: () => Promise<Decision> = async () => ({ kind: 'accepted', events: [] });
  /** The result of asking the event store for confirmation. */
  confirmed: () => Promise<void> = async () => undefined;
  /** The number of the delivery's later chain. */
  later: (delivery: Pick<Delivery, 'id' | 'chain'>) => number | null = () => null;
  secrets: () => Promise<readonly Buffer[]> = async () => [Buffer.alloc(32, 1)];

  constructor(changes: Partial<DeliverFixture['parts']> = {}) {
    this.scheduler = testScheduler({ clock: this.clock });
    const handleCommand: FanOutParts['handleCommand'] = (accountId, command, { actor }) => {
      this.commands.push({ accountId, command, actor });
      return this.decision();
    };
    const { accounts, logger } = this;
    const { broker = this.broker } = changes;
    const signals = {
      abandon: this.abandon.signal,
      refused: (error: BrokerRefused) => void this.refusals.push(error),
    };
    this.parts = {
      broker,
      topics: this.topics,
      schedule: SCHEDULE,
      timeoutMs: 15_000,
      urgentTypes: ['med_created'],
      accounts: this.accounts,
      catalogue: loadCatalogue(null),
      wasRemoved: async (_, webhookId) => this.accounts.removed.has(webhookId),
      configuration: {
        headers: (_, { headers }) => headers.map(({ key, sealed }) => ({ key, value: `opened ${sealed}` })),
        secrets: () => this.secrets(),
      },
      sealing: { seal: (value, { accountId, field }) => `sealed for ${accountId}, ${field}: ${value}` },
      scheduler: this.scheduler,
      confirmation: { confirmed: () => this.confirmed() },
      requests: { laterChain: (delivery) => this.later(delivery) },
      log: new LogWriter({ broker, logger, ...signals, topic: this.topics.deliveries, store: 'store-1', later: soon }),
      bundles: new BundleWriter({ broker, logger, ...signals, later: soon }),
      attempt: async (request) => {
        this.requests.push(request);
        return this.answer(request);
      },
      // Only if needed: it reserves room for 10,000 endpoints.
      health:
        changes.health ?? new EndpointHealth({ accounts, handleCommand, logger, now: () => NOW, deactivateAfterMs: 0 }),
      handleCommand,
      logger: this.logger,
      metrics: noDeliveryMetrics,
      tracing: null,
      now: () => NOW,
      monotonicNow: this.clock.now,
      random: () => 0,
      interrupt: this.interrupt.signal,
      ...signals,
      ...changes,
    };
  }

  /** Forgets everything recorded so far. */
  forget(): void {
    this.broker.forget();
    const { warnings, errors, infos } = this.logger;
    for (const kept of [this.requests, this.commands, warnings, errors, infos]) kept.length = 0;
  }

  get deliver() {
    const deliver = createDeliver(this.parts);
    return (delivery: Delivery, hold = OWN) => deliver(delivery, hold);
  }

  get fanOut() {
    const fanOut = createFanOut(this.parts, createDeliver(this.parts));
    return (record: ReceivedRecord, hold = OWN) => fanOut(record, hold);
  }

  /** One step of a delivery to webhook 1 whose attempt has the result `result`. */
  async attempted(result: AttemptResult, delivery: Partial<Delivery> = {}): Promise<this> {
    this.accounts.put(webhookOf(1));
    this.answer = () => result;
    await this.deliver(deliveryTo(1, delivery));
    return this;
  }

  /** The delivery entries of the deliveries topic. */
  get log(): DeliveryLogEntry[] {
    return this.broker.of(this.topics.deliveries).flatMap((record) => readLogRecord(record).deliveries);
  }

  /** The `routed` entries of the deliveries topic. */
  get routed(): RoutedEntry[] {
    return this.broker.of(this.topics.deliveries).flatMap((record) => readLogRecord(record).routed);
  }

  get deadLetters() {
    return this.broker.of(this.topics.deadLetters);
  }

  /** The records of the requests topic. */
  get requested(): Request[] {
    return this.broker.of(this.topics.requests).flatMap((record) => requestIn(record) ?? []);
  }

  /** What a dispatcher makes of the requests, all of which it knows. */
  async consume(): Promise<void> {
    const requests = new Requests({ ...this.parts, requestChains: new MemoryRequestChains(), store: 'store-1' });
    for (const request of this.requested) requests.learn(request);
    const deliver = eachStepOnce(createDeliver({ ...this.parts, requests }));
    for (const { delivery, cancels } of this.requested) if (!cancels) await deliver(delivery, OWN);
  }

  /** The records that wait in tiers, tier by tier. */
  get waiting(): Waiting[] {
    const tiers = this.broker.topics.filter((topic) => this.topics.isTier(topic));
    return tiers.flatMap((topic) => this.broker.of(topic).flatMap((record) => waitingIn(topic, record)));
  }
}

/** No test waits for entries to be gathered: 100,000 records waited for six minutes. */
function soon(flush: () => void): () => void {
  const turn = setImmediate(flush);
  return () => clearImmediate(turn);
}

/** The key of the queue for deliveries to a webhook. */
export function lineOf(webhookId: number): [accountId: number, url: string] {
  return [ACCOUNT, webhookOf(webhookId).endpoint];
}

function waitingIn(topic: string, record: NewRecord): Waiting[] {
  const deliveries = deliveriesIn(record);
  if (deliveries.length === 0) throw new Error(`${topic} holds what is not a bundle`);
  const { due } = waitOf(record);
  return deliveries.map((delivery) => ({ tier: topic.replace(/^webhooks\.(retry\.)?/, ''), due, delivery }));
}
