/** Each role runs with the permissions that SECURITY.md lists for it, and no others, on a Kafka that allows nothing else. */
import kafkajs, { type AclEntry, type Admin } from 'kafkajs';
import { startOwnServer } from '../services/eventstoredb/own-server.js';
import { startKafka } from '../services/kafka/kafka-server.js';
import { undoneAfterEach } from '../support/at-end.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { elsewhere, type Settings, serve } from '../support/clients/service.js';
import { eventually } from '../support/eventually.js';
import { fileOf } from '../support/file-of.js';
import { kafkaInstallation } from '../support/scenes/kafka-installation.js';
import { addWebhook, paymentEvents, register, tokenFor } from '../support/scenes/story.js';
import { withOwnKafka } from '../support/servers/own-kafka.js';
import { startReceiver } from '../support/servers/receiver.js';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const ACCOUNT = 7;
const ROLES = ['dispatcher', 'api', 'payment system', 'auditor', 'operator'] as const;
type Role = (typeof ROLES)[number];
const userOf = (role: Role | 'admin') => role.replace(' ', '-');
const PATIENCE = { timeout: 40_000 };
const OPERATIONS: Readonly<Record<string, number>> = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Delete: AclOperationTypes.DELETE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
};

withOwnKafka(() => {
  const atEnd = undoneAfterEach();

  test('payments are delivered, retried, shown, audited and replayed', async () => {
    const kafka = await startKafka({ properties: authorizing() });
    atEnd(() => kafka.stop());
    let status = 503;
    const receiver = await startReceiver({ respond: () => ({ status }) });
    atEnd(() => receiver.close());
    const store = await startOwnServer();
    atEnd(() => store.stop());
    const EVENT_STORE_URL = store.url;
    const more = {
      EVENT_STORE_URL,
      PAYMENT_TOPICS: 'payment-events',
      RETRY_SCHEDULE: '200ms,400ms',
      KAFKA_SASL_MECHANISM: 'PLAIN',
    };
    const { settings, remove } = await kafkaInstallation(kafka.brokers, [receiver], more);
    atEnd(remove);
    await administer(kafka.brokers, async (admin) => {
      await admin.createAcls({ acl: [...documented(), ...forTheFirstStart()] });
    });

    const dispatcher = await serve(as('dispatcher', elsewhere(settings)), ['--roles', 'dispatcher']);
    atEnd(() => dispatcher.stop('SIGKILL'));
    await administer(kafka.brokers, async (admin) => {
      await admin.deleteAcls({ filters: forTheFirstStart() });
    });
    const api = await serve(as('api', settings), ['--roles', 'api']);
    atEnd(() => api.stop('SIGKILL'));
    const token = await tokenFor(api.url, await register(as('api', settings), ACCOUNT));
    expect(await addWebhook(api.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' })).toBe(200);
    const run = async (role: Role, args: readonly string[], stdin = '') => {
      const { code, stdout, stderr } = await commandLine(as(role, settings), args, stdin);
      return { code, stdout, ...(code !== 0 && { stderr }) };
    };
    const lines = (text: string) => text.split('\n').filter((line) => line !== '');

    const from = new Date(Date.now() - 60_000).toISOString();
    const published = await run('payment system', ['events', 'publish', '--json'], paymentEvents(ACCOUNT, 3));
    expect(published).toEqual({ code: 0, stdout: '{"published":3}\n' });
    await eventually(
      async () => lines((await run('auditor', ['dead-letters', 'list', '--json'])).stdout).length === 3,
      PATIENCE,
    );
    status = 200;
    const replayed = await run('operator', ['dead-letters', 'replay', '--json']);
    expect({ ...replayed, stdout: lines(replayed.stdout).length }).toEqual({ code: 0, stdout: 3 });
    await eventually(async () => {
      const response = await fetch(`${api.url}/api/webhooks/1/deliveries`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const { deliveries } = (await response.json()) as { deliveries: { outcome: string }[] };
      return deliveries.filter(({ outcome }) => outcome === 'delivered').length === 3;
    }, PATIENCE);
    const to = new Date(Date.now() + 60_000).toISOString();
    expect(await run('auditor', ['audit', 'completeness', '--from', from, '--to', to])).toMatchObject({ code: 0 });
    expect((await run('operator', ['doctor', '--json'])).stdout).toContain('are set up as needed');
    expect(await dispatcher.stop('SIGTERM')).toBe(0);
    expect(await api.stop('SIGTERM')).toBe(0);
  });
});

function as(role: Role, settings: Settings): Settings {
  return { ...settings, KAFKA_SASL_USERNAME: userOf(role), KAFKA_SASL_PASSWORD: `${userOf(role)}-pw` };
}

function authorizing(): Record<string, string> {
  const users = [...ROLES, 'admin' as const].map((role) => `user_${userOf(role)}="${userOf(role)}-pw"`);
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // ANONYMOUS: the controller.
    'super.users': 'User:admin;User:ANONYMOUS',
    'listener.security.protocol.map': 'CLIENTS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'listener.name.clients.plain.sasl.jaas.config': `${module} username="admin" password="admin-pw" ${users.join(' ')};`,
  };
}

/** The rows of the table. */
function documented(): AclEntry[] {
  const rows = [...fileOf('SECURITY.md').matchAll(/^\| ([a-z ]+) \| (topic|group)s? `([^`]+)` \| ([A-Za-z, ]+) \|$/gm)];
  expect(new Set(rows.map(([, role]) => role))).toEqual(new Set(ROLES));
  return rows.flatMap(([, role, kind, name = '', operations = '']) =>
    operations.split(', ').map((operation) => entry(role as Role, { kind, name, operation })),
  );
}

function forTheFirstStart(): AclEntry[] {
  const names = ['payment-events', 'webhooks.*'];
  return names.map((name) => entry('dispatcher', { kind: 'topic', name, operation: 'Create' }));
}

function entry(role: Role, of: { kind: string | undefined; name: string; operation: string }): AclEntry {
  const operation = OPERATIONS[of.operation];
  if (operation === undefined) throw new Error(`no operation is called ${of.operation}`);
  return {
    principal: `User:${userOf(role)}`,
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
    operation,
    resourceType: of.kind === 'topic' ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
    resourceName: of.name.replace(/\*$/, ''),
    resourcePatternType: of.name.endsWith('*') ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
  };
}

async function administer(brokers: string, work: (admin: Admin) => Promise<void>): Promise<void> {
  const sasl = { mechanism: 'plain', username: 'admin', password: 'admin-pw' } as const;
  const admin = new kafkajs.Kafka({ brokers: [brokers], sasl, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  await work(admin);
  await admin.disconnect();
}
