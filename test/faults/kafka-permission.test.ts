import { afterEach, expect, jest } from '@jest/globals';
import kafkajs from 'kafkajs';
import { startKafka } from '../services/kafka/kafka-server.js';
import { distinct } from '../support/distinct-requests.js';
import { eventually } from '../support/eventually.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { withOwnKafka } from '../support/own-kafka.js';
import { startReceiver } from '../support/receiver.js';
import { type Settings, serve, startServing } from '../support/service.js';
import { addWebhook, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';
import { testInFull } from '../support/thorough.js';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const ACCOUNT = 7;
const DISPATCHER = ['--roles', 'dispatcher'];
const PATIENCE = { timeout: 40_000 };
const REFUSED = /Kafka denies a permission that the service needs \(GROUP_AUTHORIZATION_FAILED\)/;

const AUTHORIZING = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'true',
};

jest.setTimeout(300_000);

withOwnKafka(() => {
  let cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
    cleanups = [];
  });

  testInFull(
    'a permission that is taken away ends a dispatcher with code 1, as it ends the next one, and not the API beside one',
    async () => {
      const kafka = await startKafka({ properties: AUTHORIZING });
      cleanups.push(() => kafka.stop());
      const receiver = await startReceiver();
      cleanups.push(() => receiver.close());
      const { settings, remove } = await kafkaInstallation(kafka.brokers, [receiver]);
      cleanups.push(remove);
      const [both, dispatcher] = await Promise.all([serve(settings), serve(elsewhere(settings), DISPATCHER)]);
      cleanups.push(
        () => both.stop('SIGKILL'),
        () => dispatcher.stop('SIGKILL'),
      );
      const token = await tokenFor(both.url, await register(settings, ACCOUNT));
      expect(await addWebhook(both.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' })).toBe(200);

      const permit = await denyGroup(kafka.brokers, 'account-webhooks');
      expect(await dispatcher.exited).toBe(1);
      expect(dispatcher.log()).toMatch(REFUSED);
      const later = await startServing(elsewhere(settings), DISPATCHER);
      cleanups.push(() => later.stop('SIGKILL'));
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
});

/** Another process of the same installation. */
function elsewhere(settings: Settings): Settings {
  return { ...settings, DATA_DIR: `${settings.DATA_DIR}-2` };
}

/** @returns restores the permission */
async function denyGroup(brokers: string, resourceName: string): Promise<() => Promise<void>> {
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const whom = { principal: 'User:ANONYMOUS', host: '*', operation: AclOperationTypes.READ };
  const what = {
    resourceType: AclResourceTypes.GROUP,
    resourceName,
    resourcePatternType: ResourcePatternTypes.LITERAL,
  };
  const permissionType = AclPermissionTypes.DENY;
  await admin.createAcls({ acl: [{ ...whom, ...what, permissionType }] });
  return async () => {
    await admin.deleteAcls({ filters: [{ ...whom, ...what, permissionType }] });
    await admin.disconnect();
  };
}
