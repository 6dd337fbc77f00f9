/** The doctor on an EventStoreDB and a Kafka of its own, which it finds well, and then less so. */
import { randomBytes } from 'node:crypto';
import kafkajs, { type Admin } from 'kafkajs';
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import { type OwnServer, startOwnServer } from '../services/eventstoredb/own-server.js';
import { startKafka } from '../services/kafka/kafka-server.js';
import { examined } from '../support/clients/examined.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { serveHere } from '../support/clients/in-process-service.js';
import type { Settings } from '../support/clients/service.js';
import { installation, register } from '../support/scenes/story.js';
import { withOwnKafka } from '../support/servers/own-kafka.js';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const AUTHORIZING = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'true',
};
const GROUP = 'the-group';

withOwnKafka(() => {
  let store: OwnServer;
  let kafka: Awaited<ReturnType<typeof startKafka>>;
  let settings: Settings;
  const cleanups: (() => unknown)[] = [];

  beforeAll(async () => {
    store = await startOwnServer();
    cleanups.push(() => store.stop());
    kafka = await startKafka({ properties: AUTHORIZING });
    cleanups.push(() => kafka.stop());
    const installed = await installation([]);
    cleanups.push(installed.remove);
    settings = {
      ...installed.settings,
      ...{ PORT: '0', ADMIN_PORT: '0', KAFKA_GROUP: GROUP, KAFKA_PARTITIONS: '3' },
      EVENT_STORE_URL: store.url,
      BROKER_URL: `kafka://${kafka.brokers}`,
      MASTER_KEY: randomBytes(32).toString('base64'),
    };
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

  async function administer<T>(work: (admin: Admin, client: kafkajs.Kafka) => Promise<T>): Promise<T> {
    const client = new kafkajs.Kafka({ brokers: [kafka.brokers], logLevel: kafkajs.logLevel.NOTHING });
    const admin = client.admin();
    await admin.connect();
    try {
      return await work(admin, client);
    } finally {
      await admin.disconnect();
    }
  }

  test('before the first start: what is not there yet is said, and nothing of it is made', async () => {
    const stored = await storedIn(store);
    const { code, troubles, of } = await examined(settings);
    expect(code).toBe(0);
    expect(troubles).toEqual([
      'warn DATA_DIR: does not exist yet',
      'warn projections: account-webhooks is not deployed',
      'warn projections: account-credentials is not deployed',
      expect.stringMatching(/^warn broker: payment-events, webhooks.retry.200ms, .* are missing$/),
    ]);
    expect(of('event store')).toEqual(['ok reading, appending and subscribing work']);
    expect(await storedIn(store)).toEqual(stored);
    expect(await administer((admin) => admin.listTopics())).toEqual([]);
  });

  test('after it, with the projections deployed: all is well', async () => {
    const service = await serveHere(settings);
    await service.stop();
    expect((await commandLine(settings, ['projections', 'deploy'])).code).toBe(0);
    const { code, troubles, of } = await examined(settings);
    expect({ code, troubles }).toEqual({ code: 0, troubles: [] });
    expect(of('projections')).toEqual(['ok account-webhooks is running', 'ok account-credentials is running']);
    expect(of('broker')[1]).toBe('ok 12 topics are set up as needed');
    expect(of('MASTER_KEY')).toEqual(['ok opens all sealed values (1)']);
  });

  test('a permission that is missing is a failure of the broker check', async () => {
    const whom = { principal: 'User:ANONYMOUS', host: '*', operation: AclOperationTypes.ALL };
    const what = {
      ...{ resourceType: AclResourceTypes.GROUP, resourceName: GROUP },
      resourcePatternType: ResourcePatternTypes.LITERAL,
    };
    await administer((admin) =>
      admin.createAcls({ acl: [{ ...whom, ...what, permissionType: AclPermissionTypes.DENY }] }),
    );
    const { code, of } = await examined(settings);
    expect(code).toBe(1);
    expect(of('broker')).toContainEqual(expect.stringMatching(/^FAIL no broker leads the consumer group the-group: /));
  });
});
