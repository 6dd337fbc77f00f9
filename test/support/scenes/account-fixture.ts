/** The dispatcher in this process: embedded store and broker, ACCOUNT, and real receivers over TLS as its webhooks. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createRegistration } from '../../../src/accounts/registration.js';
import { openRequestChains } from '../../../src/adapters/sqlite/request-chains.js';
import { createAttempt } from '../../../src/delivery/attempt/attempt.js';
import { createDeliverySecrets } from '../../../src/delivery/attempt/send.js';
import { type Dispatcher, type DispatcherParts, startDispatcher } from '../../../src/delivery/dispatcher.js';
import { EndpointHealth } from '../../../src/delivery/endpoint-health.js';
import { deliveriesOf, deliveryTopics } from '../../../src/delivery/log/delivery-log.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import { EndpointAgent } from '../../../src/endpoints/endpoint-agent.js';
import type { NewRecord, ReceivedRecord } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { createWasRemoved } from '../../../src/read-model/removed-webhooks.js';
import { masterKey } from '../../../src/secrets/master-keys.js';
import { createSealing } from '../../../src/secrets/sealing.js';
import { createProcessClock } from '../../../src/time/process-clock.js';
import type { Command } from '../../../src/webhooks/decide.js';
import { createCommandHandler } from '../../../src/webhooks/handle-command.js';
import { testScheduler } from '../clocks/test-scheduler.js';
import { ACCOUNT } from '../generators/delivery-samples.js';
import { CONTEXT, register } from '../generators/webhook-samples.js';
import { testAuthority } from '../servers/certificates.js';
import { type ReceivedRequest, type Receiver, type ReceiverOptions, startReceiver } from '../servers/receiver.js';
import { SqliteFolder } from '../servers/sqlite-folder.js';
import { commandDeps } from './command-deps.js';
import { noDeliveryMetrics } from './no-metrics.js';
import { startReadModel } from './read-model-fixture.js';
import { scratchInMemory } from './scratch-in-memory.js';
import { silentLogger } from './silent-logger.js';

const LONG = 15_000;
const TOPICS = topicsOf(['payment-events'], '');
const sealing = createSealing([masterKey(Buffer.alloc(32, 7))], randomBytes);

export class AccountFixture {
  readonly #folder: SqliteFolder;
  #installation: Installation;

  private constructor(folder: SqliteFolder, installation: Installation) {
    this.#folder = folder;
    this.#installation = installation;
  }

  static async open(): Promise<AccountFixture> {
    const folder = new SqliteFolder();
    const installation = await openInstallation(folder);
    await installation.register(ACCOUNT);
    return new AccountFixture(folder, installation);
  }

  /** The current one: restart replaces it. */
  get installation(): Installation {
    return this.#installation;
  }

  /** Starts a receiver as webhook `id` of the account. */
  async webhook(id: number, options: ReceiverOptions = {}): Promise<Receiver> {
    const receiver = await startReceiver(options);
    this.#folder.onClose(() => receiver.close());
    await this.#installation.webhook(id, `${receiver.url}/in`);
    return receiver;
  }

  async restart(): Promise<void> {
    await this.#installation.close();
    this.#installation = await openInstallation(this.#folder);
  }

  async close(): Promise<void> {
    await this.#installation.close();
    await this.#folder.close();
  }
}

type Installation = Awaited<ReturnType<typeof openInstallation>>;

async function openInstallation(folder: SqliteFolder) {
  const { file, store, broker } = folder.open();
  const readModel = await startReadModel(store, folder.dataDir);
  const { accounts, commandAccounts } = readModel;
  const handleCommand = createCommandHandler(commandDeps({ store, accounts: commandAccounts }));
  const now = () => Date.now();
  const registration = createRegistration({
    ...{ store, sealing, randomBytes, newEventId: randomUUID, now: () => new Date() },
  });
  const { cert: ca } = await testAuthority();
  const agent = new EndpointAgent({ allowPrivate: true, connectTimeoutMs: LONG, ca });
  const requestChains = openRequestChains(folder.dataDir, () => undefined);
  const stops = [
    () => requestChains.close(),
    () => file.close(),
    () => store.close(),
    () => broker.close(),
    () => readModel.close(),
  ];
  stops.push(() => agent.destroy());
  return {
    broker,
    accounts,
    register: (accountId: number) => registration.register(accountId, CONTEXT),
    handleCommand: (command: Command) => handleCommand(ACCOUNT, command, CONTEXT),
    async webhook(newId: number, url: string): Promise<void> {
      const at = new Date().toISOString();
      const { kind } = await handleCommand(ACCOUNT, register(newId, { url, endpoint: url, newId, at }), CONTEXT);
      if (kind !== 'accepted') throw new Error(`the webhook was not taken: ${kind}`);
    },
    /** Publishes to payment-events; a string is the value of a record of ACCOUNT. */
    publish: (...payments: readonly (string | NewRecord)[]) =>
      broker.publish(TOPICS.payments[0], payments.map(toRecord)),
    async browse(topic: string): Promise<ReceivedRecord[]> {
      const records: ReceivedRecord[] = [];
      for await (const record of topicRecords(broker, topic)) records.push(record);
      return records;
    },
    deliveries: async (accountId: number) => [
      ...(await deliveriesOf(accountId, deliveryTopics(broker, TOPICS), scratchInMemory())),
    ],
    async dispatch(options: Partial<DispatcherParts> = {}): Promise<Dispatcher> {
      const dispatcher = await startDispatcher({
        broker,
        group: 'test',
        topics: TOPICS,
        schedule: [{ text: '1h', ms: 3_600_000 }],
        timeoutMs: LONG,
        urgentTypes: [],
        accounts,
        wasRemoved: createWasRemoved(store),
        store: 'a history',
        requestChains,
        passHead: (signal) => readModel.host.passHead(signal),
        configuration: createDeliverySecrets(accounts, sealing, now),
        sealing,
        catalogue: new Map(),
        scheduler: testScheduler({ slots: 256, perEndpoint: 16, clock: createProcessClock() }),
        health: new EndpointHealth({ accounts, handleCommand, logger: silentLogger, now, deactivateAfterMs: 0 }),
        attempt: createAttempt({ agent, timeoutMs: LONG, now, userAgent: 'test/1' }),
        handleCommand,
        logger: silentLogger,
        metrics: noDeliveryMetrics,
        tracing: null,
        now,
        monotonicNow: () => performance.now(),
        random: () => 0,
        drainMs: 0,
        backpressure: { asker: () => () => true },
        ...options,
      });
      stops.push(() => dispatcher.close());
      return dispatcher;
    },
    /** Ends the dispatchers, the read model and the store, in this order. */
    async close(): Promise<void> {
      for (const stop of stops.splice(0).reverse()) await stop();
    },
  };
}

function toRecord(payment: string | NewRecord): NewRecord {
  if (typeof payment !== 'string') return payment;
  return { key: Buffer.from(String(ACCOUNT)), value: Buffer.from(payment), headers: [] };
}

export const eventId = ({ body }: ReceivedRequest) => (JSON.parse(body.toString()) as { id: string }).id;
export const webhookId = ({ headers }: ReceivedRequest) => String(headers['webhook-id']);
