/**
 * The setting of every fault test: an installation with an account, a receiver that counts its requests, an oracle, and
 * a concurrent publisher. Everything is closed in reverse order.
 */
import { randomBytes } from 'node:crypto';
import { type Backbone as OpenedBackbone, openBackbone } from '../../../src/composition/backbone.js';
import type { DeliveryView } from '../../../src/delivery/log/delivery-log.js';
import { type Topics, topicsOf } from '../../../src/delivery/topics.js';
import type { NewRecord } from '../../../src/ports/broker.js';
import { readConfig } from '../../../src/settings/read-config.js';
import { commandLine } from '../clients/in-process-cli.js';
import { jsonLines, type Service, type Settings, type Starting, serve, startServing } from '../clients/service.js';
import { eventually } from '../clocks/eventually.js';
import { Oracle } from '../oracles/oracle.js';
import type { OwnKafka } from '../servers/own-kafka.js';
import { type Receiver, type ReceiverOptions, startReceiver } from '../servers/receiver.js';
import type { Backbone } from './backbones.js';
import { kafkaSettingsOn, onKafka } from './kafka-installation.js';
import { silentLogger } from './silent-logger.js';
import { type Account, addWebhook, installation, register, tokenFor } from './story.js';

/** Records per publish call. */
const BATCH = 10;
/** Lines of each service's log, shown after a loss. */
const SHOWN_LINES = 30;

export interface SceneOptions {
  readonly respond?: ReceiverOptions['respond'];
  /** In addition to the installation's settings. */
  readonly settings?: Settings;
  /** More ports allowed for deliveries. */
  readonly ports?: readonly number[];
}

export class FaultScene {
  readonly receiver: Receiver;
  readonly oracle: Oracle;
  /** Without the extra settings of a single service. */
  readonly settings: Settings;
  readonly #cleanups: (() => unknown)[];
  readonly #services: Pick<Service, 'log'>[] = [];

  private constructor(receiver: Receiver, settings: Settings, cleanups: (() => unknown)[]) {
    this.receiver = receiver;
    this.oracle = new Oracle(receiver);
    this.settings = settings;
    this.#cleanups = cleanups;
  }

  static async open(backbone?: Backbone, options: SceneOptions = {}): Promise<FaultScene> {
    const { respond = () => ({ status: 200 }), settings = {}, ports = [] } = options;
    const receiver = await startReceiver({ respond });
    const installed = await installation([receiver], backbone);
    const ALLOWED_PORTS = [installed.settings.ALLOWED_PORTS, ...ports].join();
    const cleanups = [() => receiver.close(), installed.remove];
    return new FaultScene(receiver, { ...installed.settings, ALLOWED_PORTS, ...settings }, cleanups);
  }

  /** On a Kafka of the test's own, which ends with the scene. */
  static onKafka(kafka: OwnKafka, options: SceneOptions = {}): Promise<FaultScene> {
    return FaultScene.open(onKafka(kafkaSettingsOn(kafka.brokers), kafka.stop), options);
  }

  /** On an event store of the test's own, which ends with the scene. */
  static onStore({ url, stop }: { url: string; stop(): Promise<unknown> }): Promise<FaultScene> {
    const settings = { EVENT_STORE_URL: url, MASTER_KEY: randomBytes(32).toString('base64') };
    return FaultScene.open({
      name: 'EventStoreDB',
      open: async () => ({ settings, close: async () => void (await stop()) }),
    });
  }

  onClose(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
  }

  /** Returns after its ready line. */
  async serve(more: Settings = {}, args: readonly string[] = []): Promise<Service> {
    return this.#ended(await serve({ ...this.settings, ...more }, args));
  }

  /** Returns after its first line. */
  async starting(more: Settings = {}, args: readonly string[] = []): Promise<Starting> {
    return this.#ended(await startServing({ ...this.settings, ...more }, args));
  }

  /** Registers the account, and its webhooks for cash_in. @returns a token of the account */
  async account(service: Pick<Service, 'url'>, accountId: number, urls: readonly string[]): Promise<string> {
    return this.webhooks(service, await register(this.settings, accountId), urls);
  }

  /** The account's webhooks for cash_in. @returns a token of the account */
  async webhooks(service: Pick<Service, 'url'>, account: Account, urls: readonly string[]): Promise<string> {
    const token = await tokenFor(service.url, account);
    for (const url of urls) {
      const status = await addWebhook(service.url, token, { url, eventType: 'cash_in' });
      if (status !== 200) throw new Error(`${url} could not be registered: ${status}`);
    }
    return token;
  }

  urls(...paths: readonly string[]): string[] {
    return paths.map((path) => this.receiver.url + path);
  }

  /**
   * Publishes like another process, batch after batch, and tells the oracle.
   *
   * @param events NDJSON
   * @returns when each event was published, by id: ms since the epoch
   */
  publish(events: string, urls: readonly string[]): Promise<Map<string, number>> {
    this.oracle.due(events, urls);
    const records = events
      .split('\n')
      .filter((line) => line !== '')
      .map(paymentOf);
    return this.withBroker(async ({ broker }, topics) => {
      const times = new Map<string, number>();
      for (let from = 0; from < records.length; from += BATCH) {
        const batch = records.slice(from, from + BATCH);
        for (const { id } of batch) times.set(id, Date.now());
        await broker.publish(
          topics.payments[0],
          batch.map(({ record }) => record),
        );
      }
      return times;
    });
  }

  /** Opens store and broker in this process, like a command. */
  async withBroker<T>(work: (backbone: OpenedBackbone, topics: Topics) => Promise<T>): Promise<T> {
    const config = readConfig(this.settings);
    const backbone = await openBackbone(config, silentLogger);
    try {
      return await work(backbone, topicsOf(config.PAYMENT_TOPICS, config.TOPIC_PREFIX));
    } finally {
      await backbone.close();
    }
  }

  /** Waits until nothing is missing. @throws with the services' last log lines */
  async nothingLost(timeout: number): Promise<void> {
    try {
      await this.oracle.nothingLost(timeout);
    } catch (error) {
      const logs = this.#services.slice(-2).map(({ log }) => log().split('\n').slice(-SHOWN_LINES).join('\n'));
      throw new Error([(error as Error).message, ...logs].join('\n\n'));
    }
  }

  /** An account's deliveries as the command shows them, once this many exist and are delivered. */
  allDelivered(accountId: number, count: number, timeout: number): Promise<DeliveryView[]> {
    return eventually(
      async () => {
        const list = ['deliveries', 'list', '--account', String(accountId), '--json'];
        const deliveries = jsonLines<DeliveryView>((await commandLine(this.settings, list)).stdout);
        return deliveries.filter(({ outcome }) => outcome === 'delivered').length === count && deliveries;
      },
      { timeout },
    );
  }

  #ended<S extends Pick<Service, 'stop' | 'log'>>(service: S): S {
    this.#services.push(service);
    this.onClose(() => service.stop('SIGKILL'));
    return service;
  }
}

function paymentOf(line: string): { id: string; record: NewRecord } {
  const { id, accountId } = JSON.parse(line) as { id: string; accountId: number };
  return { id, record: { key: Buffer.from(String(accountId)), value: Buffer.from(line), headers: [] } };
}
