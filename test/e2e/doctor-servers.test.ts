/** The doctor on an EventStoreDB of its own and as a user of Kafka, which it finds well, and then less so. */
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import { type OwnServer, startOwnServer } from '../services/eventstoredb/own-server.js';
import { examined } from '../support/clients/examined.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { serveHere } from '../support/clients/in-process-service.js';
import { administer, deny, everything, permit } from '../support/clients/kafka-acls.js';
import type { Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { kafkaInstallation, kafkaSettingsOn } from '../support/scenes/kafka-installation.js';
import { register } from '../support/scenes/story.js';
import { asUser, withListeners } from '../support/servers/own-kafka.js';

const USER = 'guest';

withListeners((listeners) => {
  const { CLIENTS: brokers } = listeners;
  let store: OwnServer;
  let prefix: string;
  let settings: Settings;
  const cleanups: (() => unknown)[] = [];

  beforeAll(async () => {
    store = await startOwnServer();
    cleanups.push(() => store.stop());
    const names = kafkaSettingsOn(brokers);
    prefix = names.TOPIC_PREFIX;
    const more = { ...asUser(listeners, USER), PORT: '0', ADMIN_PORT: '0', EVENT_STORE_URL: store.url };
    const installed = await kafkaInstallation(brokers, [], { ...names, ...more });
    cleanups.push(installed.remove);
    settings = installed.settings;
    await permit(brokers, ...everything(USER, prefix));
    await register(settings, 42);
  });
  afterAll(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  /** The ids of all events but the server's own. */
  async function storedIn({ url }: OwnServer): Promise<string[]> {
    const client = connect(url);
    const ids = [];
    for await (const { event } of client.readAll()) if (event && !event.streamId.startsWith('$')) ids.push(event.id);
    await disconnect(client);
    return ids;
  }

  test('before the first start: what is not there yet is said, and nothing of it is made', async () => {
    const stored = await storedIn(store);
    const { code, troubles, of } = await examined(settings);
    expect(code).toBe(0);
    expect(troubles).toEqual([
      'warn DATA_DIR: does not exist yet',
      'warn projections: account-webhooks is not deployed',
      'warn projections: account-credentials is not deployed',
      expect.stringMatching(/^warn broker: .*\.payment-events, .*\.webhooks.retry.200ms, .* are missing$/),
    ]);
    expect(of('event store')).toEqual(['ok reading, appending and subscribing work']);
    expect(await storedIn(store)).toEqual(stored);
    const topics = await administer(brokers, (admin) => admin.listTopics());
    expect(topics.filter((topic) => topic.startsWith(prefix))).toEqual([]);
  });

  test('after the first start, with the projections deployed, all is well', async () => {
    const service = await serveHere(settings);
    await service.stop();
    expect((await commandLine(settings, ['projections', 'deploy'])).code).toBe(0);
    // A busy Kafka may move the group's coordinator meanwhile.
    const { code, troubles, of } = await eventually(async () => {
      const found = await examined(settings);
      return found.troubles.some((line) => line.includes('NOT_COORDINATOR')) ? null : found;
    });
    expect({ code, troubles }).toEqual({ code: 0, troubles: [] });
    expect(of('projections')).toEqual(['ok account-webhooks is running', 'ok account-credentials is running']);
    expect(of('broker')[1]).toBe('ok 17 topics are set up as needed');
    expect(of('MASTER_KEY')).toEqual(['ok opens all sealed values (1)']);
  });

  test('a permission that is missing is a failure of the broker check', async () => {
    const group = `${prefix}account-webhooks`;
    await deny(brokers, { user: USER, kind: 'group', name: group, operation: 'All' });
    const { code, of } = await examined(settings);
    expect(code).toBe(1);
    const says = `FAIL no broker leads the consumer group ${group}: `;
    expect(of('broker')).toContainEqual(expect.stringContaining(says));
  });
});
