import { afterEach, expect, jest, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { startKafka } from '../services/kafka/kafka-server.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { withOwnKafka } from '../support/own-kafka.js';
import { serve } from '../support/service.js';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const AUTHORIZING = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'true',
};

jest.setTimeout(60_000);

withOwnKafka(() => {
  let cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
    cleanups = [];
  });

  test('a permission that is taken away while it runs ends the process with code 1, and a line that says which', async () => {
    const kafka = await startKafka({ properties: AUTHORIZING });
    cleanups.push(() => kafka.stop());
    const { settings, remove } = await kafkaInstallation(kafka.brokers, []);
    cleanups.push(remove);
    const running = await serve({ ...settings, LOG_LEVEL: 'info' });
    cleanups.push(() => running.stop('SIGKILL'));
    await denyGroup(kafka.brokers, String(settings.KAFKA_GROUP ?? 'account-webhooks'));
    expect(await running.exited).toBe(1);
    expect(running.log()).toMatch(/Kafka does not permit what the service needs \(GROUP_AUTHORIZATION_FAILED\)/);
  });
});

async function denyGroup(brokers: string, resourceName: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const whom = { principal: 'User:ANONYMOUS', host: '*', operation: AclOperationTypes.READ };
  const what = {
    resourceType: AclResourceTypes.GROUP,
    resourceName,
    resourcePatternType: ResourcePatternTypes.LITERAL,
  };
  await admin.createAcls({ acl: [{ ...whom, ...what, permissionType: AclPermissionTypes.DENY }] });
  await admin.disconnect();
}
