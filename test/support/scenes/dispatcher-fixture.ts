/** The dispatcher in this process: embedded store and broker, real receivers over TLS, accounts and webhooks. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createRegistration } from '../../../src/accounts/registration.js';
import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { SqliteEventStore } from '../../../src/adapters/sqlite/event-store.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { type Attempt, createAttempt } from '../../../src/delivery/attempt/attempt.js';
import { createDeliverySecrets } from '../../../src/delivery/attempt/send.js';
import { type Dispatcher, type DispatcherParts, startDispatcher } from '../../../src/delivery/dispatcher.js';
import { EndpointHealth } from '../../../src/delivery/endpoint-health.js';
import { type DeliveryView, deliveriesOf, deliveryTopics } from '../../../src/delivery/log/delivery-log.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import { createEndpointAgent } from '../../../src/endpoints/endpoint-agent.js';
import type { Broker, NewRecord, ReceivedRecord } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import type { Accounts } from '../../../src/read-model/accounts.js';
import { createWasRemoved } from '../../../src/read-model/removed-webhooks.js';
import { masterKey } from '../../../src/secrets/master-keys.js';
import { createSealing, headerPlace } from '../../../src/secrets/sealing.js';
import { createProcessClock } from '../../../src/time/process-clock.js';
import { createCommandHandler } from '../../../src/webhooks/handle-command.js';
import type { EventType } from '../../../src/webhooks/limits.js';
import { testScheduler } from '../clocks/test-scheduler.js';
import { CONTEXT } from '../generators/webhook-samples.js';
import { noDeliveryMetrics } from '../no-metrics.js';
import { testAuthority } from '../servers/certificates.js';
import { silentLogger } from '../silent-logger.js';
import { commandParts } from './command-parts.js';
import { startReadModel } from './read-model-fixture.js';
import { scratchInMemory } from './scratch-in-memory.js';

const LONG = 15_000;
const sealing = createSealing([masterKey(Buffer.alloc(32, 7))], randomBytes);

interface WebhookSample {
  readonly id: number;
  readonly accountId: number;
  readonly url: string;
  readonly eventType?: EventType;
  readonly headers?: readonly { readonly key: string; readonly value: string }[];
}

export interface DispatcherFixture {
  readonly broker: Broker;
  readonly accounts: Accounts;
  /** Registers an account. @returns its signing secret */
  account(accountId: number): Promise<string>;
  webhook(webhook: WebhookSample): Promise<void>;
  /** Publishes to payment-events; a string is the value of a record of account 42. */
  publish(...payments: readonly (string | NewRecord)[]): Promise<unknown>;
  dispatch(options?: Partial<DispatcherParts>): Promise<Dispatcher>;
  /** Uses real connections, which trust the test receivers. */
  attempt(timeoutMs: number): Promise<Attempt>;
  browse(topic: string): Promise<ReceivedRecord[]>;
  deliveries(accountId: number): Promise<DeliveryView[]>;
  /** Ends the dispatchers, the read model and the store, in this order. */
  close(): Promise<void>;
}

/** Opens an installation on a folder: opened again after close, it is the same installation after a restart. */
export async function openInstallation(dataDir: string): Promise<DispatcherFixture> {
  const file = new StoreFile(dataDir);
  const store = new SqliteEventStore(file);
  const broker = new SqliteBroker(file);
  const readModel = await startReadModel(store, dataDir);
  const { accounts, load } = readModel;
  const handleCommand = createCommandHandler(commandParts({ store, load }));
  const now = () => Date.now();
  const parts = { store, sealing, randomBytes, newEventId: randomUUID, now: () => new Date() };
  const registration = createRegistration(parts);
  const stops = [() => file.close(), () => store.close(), () => broker.close(), () => readModel.close()];

  const browse = async (topic: string) => {
    const records: ReceivedRecord[] = [];
    for await (const record of topicRecords(broker, topic)) records.push(record);
    return records;
  };

  const attempt = async (timeoutMs: number) => {
    const { cert: ca } = await testAuthority();
    const agent = createEndpointAgent({ allowPrivate: true, connectTimeoutMs: LONG, ca });
    stops.push(() => agent.destroy());
    return createAttempt({ agent, timeoutMs, now, userAgent: 'test/1' });
  };

  return {
    broker,
    accounts,
    browse,
    account: async (accountId) => (await registration.register(accountId, CONTEXT)).signingSecret,
    async webhook({ id: newId, accountId, url, eventType = 'cash_in', headers = [] }) {
      const sealed = headers.map(({ key, value }) => ({
        key,
        sealed: sealing.seal(value, headerPlace(accountId, key)),
      }));
      const at = new Date().toISOString();
      const of = { url, endpoint: url, eventType, headers: sealed, isHeldBy: () => false };
      const command = { type: 'RegisterWebhook', ...of, newId, at } as const;
      const { kind } = await handleCommand(accountId, command, CONTEXT);
      if (kind !== 'accepted') throw new Error(`the webhook was not taken: ${kind}`);
    },
    publish: (...payments) => broker.publish('payment-events', payments.map(toRecord)),
    attempt,
    async dispatch(options = {}) {
      const dispatcher = await startDispatcher({
        broker,
        group: 'test',
        topics: topicsOf(['payment-events'], ''),
        schedule: [{ text: '1h', ms: 3_600_000 }],
        timeoutMs: 15_000,
        accounts,
        wasRemoved: createWasRemoved(store),
        store: 'a history',
        passHead: (signal) => readModel.host.passHead(signal),
        configuration: createDeliverySecrets(accounts, sealing, now),
        sealing,
        catalogue: new Map(),
        scheduler: testScheduler({ slots: 256, perEndpoint: 16, clock: createProcessClock() }),
        health: new EndpointHealth({ accounts, handleCommand, logger: silentLogger, now, deactivateAfterMs: 0 }),
        attempt: await attempt(LONG),
        handleCommand,
        logger: silentLogger,
        metrics: noDeliveryMetrics,
        tracing: null,
        now,
        monotonicNow: () => performance.now(),
        random: () => 0,
        drainMs: 0,
        backpressure: { mayConsume: () => true },
        ...options,
      });
      stops.push(() => dispatcher.close());
      return dispatcher;
    },
    deliveries: async (accountId) => {
      const read = deliveryTopics(broker, topicsOf(['payment-events'], ''));
      return [...(await deliveriesOf(accountId, read, scratchInMemory()))];
    },
    async close() {
      for (const stop of stops.splice(0).reverse()) await stop();
    },
  };
}

function toRecord(payment: string | NewRecord): NewRecord {
  if (typeof payment !== 'string') return payment;
  return { key: Buffer.from('42'), value: Buffer.from(payment), headers: [] };
}
