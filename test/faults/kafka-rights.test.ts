/** Each role runs with the permissions that SECURITY.md lists for it, and no others, on a Kafka that allows nothing else. */
import { startOwnServer } from '../services/eventstoredb/own-server.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { type Permission, permit } from '../support/clients/kafka-acls.js';
import { elsewhere, type Settings, serve } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { fileOf } from '../support/oracles/file-of.js';
import { undoneAfterEach } from '../support/scenes/at-end.js';
import { kafkaInstallation, kafkaSettingsOn } from '../support/scenes/kafka-installation.js';
import { addWebhook, paymentEvents, register, tokenFor } from '../support/scenes/story.js';
import { asUser, withListeners } from '../support/servers/own-kafka.js';
import { startReceiver } from '../support/servers/receiver.js';

const ACCOUNT = 7;
const ROLES = ['dispatcher', 'api', 'payment system', 'auditor', 'operator'] as const;
type Role = (typeof ROLES)[number];
const userOf = (role: Role) => role.replace(' ', '-');
const PATIENCE = { timeout: 40_000 };

withListeners((listeners) => {
  const { CLIENTS: brokers } = listeners;
  const atEnd = undoneAfterEach();

  test('payments are delivered, retried, shown, audited and replayed', async () => {
    let status = 503;
    const receiver = await startReceiver({ respond: () => ({ status }) });
    atEnd(() => receiver.close());
    const store = await startOwnServer();
    atEnd(() => store.stop());
    const names = kafkaSettingsOn(brokers);
    const prefix = names.TOPIC_PREFIX;
    const more = { ...names, EVENT_STORE_URL: store.url, RETRY_SCHEDULE: '200ms,400ms' };
    const { settings, remove } = await kafkaInstallation(brokers, [receiver], more);
    atEnd(remove);
    await permit(brokers, ...documented(prefix));
    const takeBack = await permit(brokers, ...forTheFirstStart(prefix));
    const as = (role: Role, of: Settings): Settings => ({ ...of, ...asUser(listeners, userOf(role)) });

    const dispatcher = await serve(as('dispatcher', elsewhere(settings)), ['--roles', 'dispatcher']);
    atEnd(() => dispatcher.stop('SIGKILL'));
    await takeBack();
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

/** The rows of the table. */
function documented(prefix: string): Permission[] {
  const rows = [...fileOf('SECURITY.md').matchAll(/^\| ([a-z ]+) \| (topic|group)s? `([^`]+)` \| ([A-Za-z, ]+) \|$/gm)];
  expect(new Set(rows.map(([, role]) => role))).toEqual(new Set(ROLES));
  return rows.flatMap(([, role, kind, name, operations = '']) =>
    operations.split(', ').map((operation) => ({
      ...{ user: userOf(role as Role), kind: kind as Permission['kind'] },
      ...{ name: `${prefix}${name}`, operation },
    })),
  );
}

function forTheFirstStart(prefix: string): Permission[] {
  const topics = ['payment-events', 'webhooks.*'].map((name) => ({ kind: 'topic', name: `${prefix}${name}` }) as const);
  return topics.map((topic) => ({ user: 'dispatcher', ...topic, operation: 'Create' }));
}
