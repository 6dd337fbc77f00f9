/**
 * Makes the day before `demo --keep`: the service's own routing, delivering and deciding, on a clock that is set and with
 * receivers that are only described (demo-story.ts). What comes of it stands where the service looks for it when it starts:
 * payments, entries, dead letters and waiting retries in the topics, the account's events in the store.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createRegistration } from '../accounts/registration.js';
import { SqliteBroker } from '../adapters/sqlite/broker.js';
import type { StoreFile } from '../adapters/sqlite/store-file.js';
import { type Core, type Stop, startCore } from '../composition/core.js';
import { version } from '../composition/version.js';
import type { Attempt, AttemptResult } from '../delivery/attempt/attempt.js';
import { classify, type Decided } from '../delivery/attempt/classification.js';
import { createDeliverySecrets } from '../delivery/attempt/delivery-secrets.js';
import { createDeliver } from '../delivery/deliver.js';
import { dueOf, fromRetryRecord } from '../delivery/delivery.js';
import { createFanOut, type FanOutParts } from '../delivery/fan-out.js';
import { EndpointHealth } from '../delivery/isolation/endpoint-health.js';
import { LogWriter } from '../delivery/log/log-writer.js';
import { topicsOf } from '../delivery/topics.js';
import { FAILURE_CODES } from '../endpoints/failure.js';
import { sealedEndpoint } from '../http/webhooks/endpoint-fields.js';
import { createMetrics } from '../observability/create-metrics.js';
import type { Logger } from '../observability/logger.js';
import { Readiness } from '../observability/readiness.js';
import { noTracing } from '../observability/tracing.js';
import type { Consumer, NewRecord } from '../ports/broker.js';
import { createWasRemoved } from '../read-model/removed-webhooks.js';
import type { Config } from '../settings/config.js';
import type { Command } from '../webhooks/decide.js';
import type { CommandContext } from '../webhooks/envelope.js';
import { EVENT_TYPES } from '../webhooks/limits.js';
import { createWebhookIds } from '../webhooks/webhook-ids.js';
import { operatorContext } from './command-io.js';
import {
  ACCOUNT,
  answerTo,
  DAY_MS,
  HOUR_MS,
  PAUSED,
  paymentsOfADay,
  publishedPayment,
  RECONFIGURED,
  ROTATED,
  type StoryAnswer,
  WEBHOOKS,
} from './demo-story.js';

const HOLD = { isOwn: () => true, partDone: () => undefined, isPartDone: () => false };

interface Given {
  readonly config: Config;
  readonly logger: Logger;
  /** The URL of a receiver's path. */
  readonly urlOf: (path: string) => string;
  /** Now, ms since the epoch. */
  readonly until: number;
}

/** The account, and a publisher of payments. */
export interface DemoClients {
  readonly account: { readonly clientId: string; readonly clientSecret: string };
  readonly publisher: { readonly clientId: string; readonly clientSecret: string };
}

export async function makeDay(given: Given): Promise<DemoClients> {
  const { config, logger } = given;
  const labels = { eventTypes: EVENT_TYPES, failureCodes: FAILURE_CODES };
  const metrics = createMetrics({ ...labels, version: version(), roles: [], now: Date.now });
  const stops: Stop[] = [() => metrics.close()];
  const start = { config, logger, metrics, tracing: noTracing, readiness: new Readiness() };
  try {
    const core = await startCore({ ...start, givenUp: new Promise<never>(() => undefined) }, stops);
    return await new Day(core, given).pass();
  } finally {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
  }
}

interface Waiting {
  readonly tier: string;
  readonly record: NewRecord;
  readonly due: number;
}

interface Moment {
  readonly at: number;
  readonly happen: () => Promise<unknown>;
}

class Day {
  readonly #core: Core;
  readonly #given: Given;
  readonly #broker: SqliteBroker;
  readonly #parts: FanOutParts;
  readonly #deliver: ReturnType<typeof createDeliver>;
  readonly #registration: ReturnType<typeof createRegistration>;
  readonly #topic: string;
  /** The clock: ms since the epoch. */
  #now: number;
  /** Retry records that are not due yet. */
  #waiting: Waiting[] = [];
  /** The service's own commands. */
  #commanded: Promise<unknown> = Promise.resolve();
  /** Called when the last payment was routed. */
  #routed: () => void = () => undefined;
  #clientId = '';

  constructor(core: Core, given: Given) {
    this.#core = core;
    this.#given = given;
    this.#now = given.until - DAY_MS;
    this.#topic = core.config.paymentTopics[0];
    this.#broker = new SqliteBroker(core.backbone.embedded as StoreFile, undefined, () => this.#now);
    this.#parts = this.#deliveryParts();
    this.#deliver = createDeliver(this.#parts);
    const { store, sealing } = core.backbone;
    const now = () => new Date(this.#now);
    this.#registration = createRegistration({ store, sealing, randomBytes, newEventId: randomUUID, now });
  }

  async pass(): Promise<DemoClients> {
    const registered = operatorContext(randomUUID);
    const account = await this.#registration.register(ACCOUNT, registered);
    const publisher = await this.#registration.registerPublisher('payments', registered);
    this.#clientId = account.clientId;
    await this.#seeStore();
    const consumer = await this.#consumePayments();
    for (const { at, happen } of [...this.#changes(), ...this.#payments()].sort((one, other) => one.at - other.at)) {
      await this.#retryUntil(at);
      this.#now = at;
      await happen();
    }
    await this.#retryUntil(this.#given.until);
    await consumer.close();
    for (const { tier, record } of this.#waiting) await this.#broker.publish(tier, [record]);
    return { account, publisher };
  }

  #changes(): readonly Moment[] {
    const ids = createWebhookIds(this.#core.backbone.store, randomUUID);
    const at = (hoursAgo: number) => this.#given.until - hoursAgo * HOUR_MS;
    const idOf = async (path: string) =>
      (await this.#core.accounts.webhooks(ACCOUNT))?.webhooks.find(({ url }) => url === this.#given.urlOf(path))?.id ??
      0;
    const set = async (path: string, eventType: (typeof EVENT_TYPES)[number], key: string) => {
      const headers = [{ key: 'X-Api-Key', value: key }];
      const parts = {
        sealing: this.#core.backbone.sealing,
        checkEndpoint: (href: string) => ({ ok: true, href }) as const,
      };
      const endpoint = sealedEndpoint(parts, ACCOUNT, { url: this.#given.urlOf(path), headers });
      await this.#command({
        type: 'RegisterWebhook',
        ...endpoint,
        eventType,
        newId: await ids.take(),
        at: this.#time(),
      });
    };
    const pause = async () =>
      this.#command({
        type: 'SetWebhookActive',
        webhookId: await idOf(PAUSED.path),
        isActive: false,
        at: this.#time(),
      });
    const rotate = async () => {
      await this.#registration.rotateSecret(ACCOUNT, this.#by('bruno'));
      await this.#seeStore();
    };
    return [
      ...WEBHOOKS.map(({ path, eventType, hoursAgo }) => ({
        at: at(hoursAgo),
        happen: () => set(path, eventType, `key of ${path}`),
      })),
      { at: at(PAUSED.hoursAgo), happen: pause },
      { at: at(RECONFIGURED.hoursAgo), happen: () => set(RECONFIGURED.path, 'cash_in', 'another key') },
      { at: at(ROTATED.hoursAgo), happen: rotate },
    ];
  }

  #payments(): readonly Moment[] {
    return paymentsOfADay(this.#given.until).map((payment) => ({
      at: payment.at,
      happen: async () => {
        const record = { key: Buffer.from(String(ACCOUNT)), value: publishedPayment(payment), headers: [] };
        const routed = new Promise<void>((resolve) => {
          this.#routed = resolve;
        });
        await this.#broker.publish(this.#topic, [record]);
        await routed;
        await this.#commanded;
      },
    }));
  }

  /** By the service's group: it goes on behind these payments. */
  #consumePayments(): Promise<Consumer> {
    const { paymentTopics: topics, delivery } = this.#core.config;
    const log = this.#parts.log as LogWriter;
    const route = createFanOut(this.#parts, this.#deliver);
    return this.#broker.consume({
      ...{ topics, group: delivery.group, inFlight: 1, onStart: (start) => log.started(start) },
      handler: (record, hold) => route(record, hold).finally(() => this.#routed()),
    });
  }

  /** The deliveries that wait until then, in the order in which they are due. */
  async #retryUntil(at: number): Promise<void> {
    for (;;) {
      const [next] = this.#waiting.sort((one, other) => one.due - other.due);
      const delivery = next && next.due <= at ? fromRetryRecord(next.record) : null;
      if (!next || !delivery) return;
      this.#waiting.shift();
      this.#now = Math.max(this.#now, next.due);
      await this.#deliver(delivery, HOLD);
      await this.#commanded;
    }
  }

  #deliveryParts(): FanOutParts {
    const { config, logger, accounts, backbone, metrics, tracing, handleCommand, history } = this.#core;
    const now = () => this.#now;
    const never = new AbortController().signal;
    const topics = topicsOf(config.paymentTopics, config.topicPrefix);
    const command: typeof handleCommand = (...args) => {
      const handled = handleCommand(...args);
      this.#commanded = handled;
      return handled;
    };
    const publish = async (topic: string, records: readonly NewRecord[]) => {
      if (!topics.isTier(topic)) return this.#broker.publish(topic, records);
      for (const record of records) this.#waiting.push({ tier: topic, record, due: dueOf(record) });
    };
    const publishing = { broker: { publish }, logger, abandon: never, refused: () => undefined };
    const later = (flush: () => void) => {
      queueMicrotask(flush);
      return () => undefined;
    };
    const { deactivateAfterMs, timeoutMs } = config.delivery;
    return {
      ...{ accounts, logger, tracing, topics, timeoutMs, now, monotonicNow: now, random: Math.random },
      ...{ ...publishing, heldLetters: { count: 0 }, metrics: metrics.delivery, schedule: config.retrySchedule },
      ...{ handleCommand: command, sealing: backbone.sealing, interrupt: never, attempt: this.#attempt() },
      log: new LogWriter({ ...publishing, topic: topics.deliveries, store: history, later }),
      wasRemoved: createWasRemoved(backbone.store),
      // Commands show at once in this process.
      confirmation: { confirmed: async () => undefined },
      gate: { enter: async () => ({ kind: 'entered', ended: () => null, leave: () => undefined }) },
      health: new EndpointHealth({ accounts, handleCommand: command, logger, now, deactivateAfterMs }),
      configuration: createDeliverySecrets(accounts, backbone.sealing, now),
    };
  }

  #attempt(): Attempt {
    return async ({ url, body }): Promise<AttemptResult> => {
      const at = this.#now;
      const hoursAgo = (this.#given.until - at) / HOUR_MS;
      const answer = answerTo({ path: new URL(url).pathname, body: body.toString(), hoursAgo, at });
      const decided = decidedBy(answer);
      const isLate = decided.kind === 'cancelled';
      const durationMs = isLate ? this.#core.config.delivery.timeoutMs : Math.round(20 + 180 * Math.random() ** 3);
      const response = typeof answer === 'object' && answer.status !== 200 ? { response: answer.body } : {};
      return { at, durationMs, ...classify(decided, at), ...response };
    };
  }

  #command(command: Command): Promise<unknown> {
    return this.#core.handleCommand(ACCOUNT, command, this.#by('ana'));
  }

  #by(user: string): CommandContext {
    const requestId = randomUUID();
    return { actor: `${this.#clientId}/${user}`, requestId, correlationId: requestId };
  }

  #time(): string {
    return new Date(this.#now).toISOString();
  }

  /** What was appended past the read model. */
  #seeStore(): Promise<void> {
    return this.#core.passHead(new AbortController().signal);
  }
}

function decidedBy(answer: StoryAnswer): Decided {
  const failed = (code: string): Decided => {
    const error = Object.assign(new Error(code), { code });
    return { kind: 'failed', phase: 'connecting', answered: false, began: '', error };
  };
  switch (answer) {
    case 'no-answer':
      return { kind: 'cancelled', phase: 'waiting-for-headers', reason: 'timeout' };
    case 'refused-connection':
      return failed('ECONNREFUSED');
    case 'self-signed-certificate':
      return failed('DEPTH_ZERO_SELF_SIGNED_CERT');
    default:
      return { kind: 'response', status: answer.status, retryAfter: null };
  }
}
