/** The API in this process, on its own port and folder, and accounts as its clients. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createRegistration, type Registration } from '../../../src/accounts/registration.js';
import { startApp } from '../../../src/composition/app.js';
import { openBackbone } from '../../../src/composition/backbone.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import type { Environment } from '../../../src/settings/read-config.js';
import { readConfig } from '../../../src/settings/read-config.js';
import { startOwnServer } from '../../services/eventstoredb/own-server.js';
import { Client, type Credential } from '../clients/api-client.js';
import { CONTEXT } from '../generators/webhook-samples.js';
import { silentLogger } from './silent-logger.js';
import { temporaryDirectory } from './temporary-directory.js';

export interface RunningApi {
  readonly port: number;
  readonly url: string;
  readonly adminUrl: string;
  readonly dataDir: string;
  readonly store: EventStore;
  /** Another process of an installation on a server. */
  beside(): Promise<RunningApi>;
  /** Registers directly in the store, like the command line beside a running service. */
  readonly registration: Registration;
  /** Registers an account and gets its token. */
  account(accountId: number): Promise<Client>;
  /** Registers a publisher and gets its token. */
  publisher(name: string): Promise<Client<Publisher>>;
  /** Every record of the topic, from the broker itself. */
  records(topic?: string): Promise<ReceivedRecord[]>;
  close(): Promise<void>;
}

/** ALLOW_PRIVATE_ENDPOINTS is on by default: then no name is resolved. */
export async function startApi(settings: Environment = {}, logger = silentLogger): Promise<RunningApi> {
  const { path: dataDir, remove } = temporaryDirectory();
  const own = { PORT: '0', ADMIN_PORT: '0', DATA_DIR: dataDir, ALLOW_PRIVATE_ENDPOINTS: 'true' };
  const config = readConfig({ ...own, ...settings });
  const app = await startApp(config, ['api'], logger);
  const beside = await openBackbone(config, silentLogger);
  const parts = { store: beside.store, sealing: beside.sealing, randomBytes, newEventId: randomUUID };
  const registration = createRegistration({ ...parts, now: () => new Date() });
  const port = app.apiPort ?? 0;
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    adminUrl: `http://127.0.0.1:${app.adminPort}`,
    dataDir,
    store: beside.store,
    beside: () => startApi(settings, logger),
    registration,
    async account(accountId) {
      const credential = await registration.register(accountId, CONTEXT);
      return new Client(url, credential, await tokenFor(url, credential));
    },
    async publisher(name) {
      const credential = await registration.registerPublisher(name, CONTEXT);
      return new Client(url, credential, await tokenFor(url, credential));
    },
    async records(topic = 'payment-events') {
      const records: ReceivedRecord[] = [];
      for await (const record of topicRecords(beside.broker, topic)) records.push(record);
      return records;
    },
    async close() {
      await app.close();
      await beside.close();
      remove();
    },
  };
}

/** As startApi, on a server that several processes share: they close with the first. */
export async function startApiOnServer(): Promise<RunningApi> {
  const server = await startOwnServer();
  const MASTER_KEY = randomBytes(32).toString('base64');
  const api = await startApi({ EVENT_STORE_URL: server.url, MASTER_KEY });
  const others: RunningApi[] = [];
  return {
    ...api,
    async beside() {
      const other = await api.beside();
      others.push(other);
      return other;
    },
    async close() {
      for (const one of [...others, api]) await one.close();
      await server.stop();
    },
  };
}

/** One API for the tests around the call, and an account of its own for each of them. */
export function accountForEachTest(given: (client: Client, api: RunningApi) => void, start = startApi): void {
  let api: RunningApi;
  let last = 0;
  beforeAll(async () => {
    api = await start();
  });
  beforeEach(async () => {
    last += 1;
    given(await api.account(last), api);
  });
  afterAll(() => api.close());
}

type Publisher = Awaited<ReturnType<Registration['registerPublisher']>>;
export async function tokenFor(url: string, { clientId, clientSecret }: Credential): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId });
  body.set('client_secret', clientSecret);
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}
