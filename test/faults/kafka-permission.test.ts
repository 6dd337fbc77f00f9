import { expect, test } from '@jest/globals';
import kafkajs, { type AclEntry } from 'kafkajs';
import { startKafka } from '../services/kafka/kafka-server.js';
import { undoneAfterEach } from '../support/at-end.js';
import { distinct } from '../support/distinct-requests.js';
import { eventually } from '../support/eventually.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { withOwnKafka } from '../support/own-kafka.js';
import { type ReceivedRequest, startReceiver } from '../support/receiver.js';
import { elsewhere, serve, startServing } from '../support/service.js';
import { addWebhook, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';
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
  const atEnd = undoneAfterEach();

  testInFull(
    'a permission that is taken away ends a dispatcher with code 1, as it ends the next one, and not the API beside one',
    async () => {
      const kafka = await startKafka({ properties: AUTHORIZING });
      atEnd(() => kafka.stop());
      const receiver = await startReceiver();
      atEnd(() => receiver.close());
      const { settings, remove } = await kafkaInstallation(kafka.brokers, [receiver]);
      atEnd(remove);
      const [both, dispatcher] = await Promise.all([serve(settings), serve(elsewhere(settings), DISPATCHER)]);
      atEnd(
        () => both.stop('SIGKILL'),
        () => dispatcher.stop('SIGKILL'),
      );
      const token = await tokenFor(both.url, await register(settings, ACCOUNT));
      expect(await addWebhook(both.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' })).toBe(200);

      const permit = await deny(kafka.brokers, {
        resourceType: AclResourceTypes.GROUP,
        resourceName: 'account-webhooks',
        operation: AclOperationTypes.READ,
      });
      expect(await dispatcher.exited).toBe(1);
      expect(dispatcher.log()).toMatch(REFUSED);
      const later = await startServing(elsewhere(settings), DISPATCHER);
      atEnd(() => later.stop('SIGKILL'));
      expect(await later.exited).toBe(1);
      expect(later.log()).toMatch(REFUSED);
      const ready = async () => (await fetch(`${both.adminUrl}/health/ready`)).text();
      await eventually(async () => REFUSED.test(await ready()), PATIENCE);
      expect((await fetch(`${both.url}/api/webhooks`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(
        200,
      );

      await permit();
      await publishEvents(settings, paymentEvents(ACCOUNT, 3));
      await eventually(() => distinct(receiver.requests) === 3, PATIENCE);
      await eventually(async () => !REFUSED.test(await ready()), PATIENCE);
      expect(await both.stop('SIGTERM')).toBe(0);
    },
  );

  test('a tier that it may not write to ends a dispatcher with one line and code 1, and what was done is sent once', async () => {
    const kafka = await startKafka({ properties: AUTHORIZING });
    atEnd(() => kafka.stop());
    const isBlocked = ({ body }: ReceivedRequest) => body.toString().includes('"blocked-0"');
    let status = 503;
    const receiver = await startReceiver({ respond: (request) => ({ status: isBlocked(request) ? status : 200 }) });
    atEnd(() => receiver.close());
    const { settings, remove } = await kafkaInstallation(kafka.brokers, [receiver]);
    atEnd(remove);
    const api = await serve(settings, ['--roles', 'api']);
    atEnd(() => api.stop('SIGKILL'));
    const token = await tokenFor(api.url, await register(settings, ACCOUNT));
    expect(await addWebhook(api.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' })).toBe(200);
    await api.stop('SIGTERM');
    const service = await serve({ ...settings, RETRY_SCHEDULE: '200ms' }, DISPATCHER);
    atEnd(() => service.stop('SIGKILL'));
    const permit = await deny(kafka.brokers, {
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
    const again = await serve({ ...settings, RETRY_SCHEDULE: '200ms' }, DISPATCHER);
    atEnd(() => again.stop('SIGKILL'));
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
