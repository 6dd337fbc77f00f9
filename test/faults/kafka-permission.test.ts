import kafkajs, { type AclEntry } from 'kafkajs';
import { startKafka } from '../services/kafka/kafka-server.js';
import { elsewhere, readiness } from '../support/clients/service.js';
import { eventually } from '../support/eventually.js';
import { distinct } from '../support/oracles/distinct-requests.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { listWebhooks, paymentEvents, publishEvents } from '../support/scenes/story.js';
import { withOwnKafka } from '../support/servers/own-kafka.js';
import type { ReceivedRequest } from '../support/servers/receiver.js';
import { testInFull } from '../support/thorough.js';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const ACCOUNT = 7;
const DISPATCHER = ['--roles', 'dispatcher'];
const PATIENCE = { timeout: 40_000 };
const TIER = 'webhooks.retry.200ms';
const REFUSED = /Kafka denies a permission that the service needs \(GROUP_AUTHORIZATION_FAILED\)/;

const AUTHORIZING = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'true',
};

withOwnKafka(() => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  /** @returns its brokers */
  async function openOnKafka(statusOf: (request: ReceivedRequest) => number = () => 200): Promise<string> {
    const kafka = await startKafka({ properties: AUTHORIZING });
    scene = await FaultScene.onKafka(kafka, { respond: (request) => ({ status: statusOf(request) }) });
    return kafka.brokers;
  }

  testInFull(
    'a permission that is taken away ends a dispatcher with code 1, as it ends the next one, and not the API beside one',
    async () => {
      const brokers = await openOnKafka();
      const { settings, receiver } = scene;
      const [both, dispatcher] = await Promise.all([scene.serve(), scene.serve(elsewhere(settings), DISPATCHER)]);
      const token = await scene.account(both, ACCOUNT, scene.urls('/in'));

      const permit = await deny(brokers, {
        resourceType: AclResourceTypes.GROUP,
        resourceName: 'account-webhooks',
        operation: AclOperationTypes.READ,
      });
      expect(await dispatcher.exited).toBe(1);
      expect(dispatcher.log()).toMatch(REFUSED);
      const later = await scene.starting(elsewhere(settings), DISPATCHER);
      expect(await later.exited).toBe(1);
      expect(later.log()).toMatch(REFUSED);
      const ready = async () => JSON.stringify(await readiness(both));
      await eventually(async () => REFUSED.test(await ready()), PATIENCE);
      expect((await listWebhooks(both, token)).status).toBe(200);

      await permit();
      await publishEvents(settings, paymentEvents(ACCOUNT, 3));
      await eventually(() => distinct(receiver.requests) === 3, PATIENCE);
      await eventually(async () => !REFUSED.test(await ready()), PATIENCE);
      expect(await both.stop('SIGTERM')).toBe(0);
    },
  );

  test('a tier that it may not write to ends a dispatcher with one line and code 1, and what was done is sent once', async () => {
    const isBlocked = ({ body }: ReceivedRequest) => body.toString().includes('"blocked-0"');
    let status = 503;
    const brokers = await openOnKafka((request) => (isBlocked(request) ? status : 200));
    const { settings, receiver } = scene;
    const api = await scene.serve({}, ['--roles', 'api']);
    await scene.account(api, ACCOUNT, scene.urls('/in'));
    await api.stop('SIGTERM');
    const service = await scene.serve({ RETRY_SCHEDULE: '200ms' }, DISPATCHER);
    const permit = await deny(brokers, {
      resourceType: AclResourceTypes.TOPIC,
      resourceName: TIER,
      operation: AclOperationTypes.WRITE,
    });
    await publishEvents(settings, paymentEvents(ACCOUNT, 1, 'blocked-') + paymentEvents(ACCOUNT, 50, 'behind-'));
    expect(await service.exited).toBe(1);
    const says = `Kafka denies a permission that the service needs (TOPIC_AUTHORIZATION_FAILED): to write to ${TIER}`;
    expect(service.log().trim().split('\n').at(-1)).toBe(`account-webhooks: ${says}`);
    const failures = service
      .log()
      .split('\n')
      .filter((line) => line.includes('TOPIC_AUTHORIZATION_FAILED'));
    expect(failures.length).toBeLessThan(5);

    await permit();
    status = 200;
    const again = await scene.serve({ RETRY_SCHEDULE: '200ms' }, DISPATCHER);
    await eventually(
      () => distinct(receiver.requests) === 51 && receiver.requests.filter(isBlocked).length > 1,
      PATIENCE,
    );
    expect(await again.stop('SIGTERM')).toBe(0);
    expect(receiver.requests.filter(isBlocked)).toHaveLength(2);
    expect(receiver.requests).toHaveLength(52);
  });
});

type Denied = Pick<AclEntry, 'resourceType' | 'resourceName' | 'operation'>;

/** This one alone: where a resource has an ACL, Kafka denies what none allows. @returns restores the permission */
async function deny(brokers: string, { operation, ...resource }: Denied): Promise<() => Promise<void>> {
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const resourcePatternType = ResourcePatternTypes.LITERAL;
  const common = { principal: 'User:ANONYMOUS', host: '*', ...resource, resourcePatternType };
  const denied = { ...common, operation, permissionType: AclPermissionTypes.DENY };
  const allowed = { ...common, operation: AclOperationTypes.ALL, permissionType: AclPermissionTypes.ALLOW };
  await admin.createAcls({ acl: [denied, allowed] });
  return async () => {
    await admin.deleteAcls({ filters: [denied] });
    await admin.disconnect();
  };
}
