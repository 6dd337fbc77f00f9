import { deny, everything, permit } from '../support/clients/kafka-acls.js';
import { elsewhere, readiness } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { distinct } from '../support/oracles/distinct-requests.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { kafkaSettingsOn, onKafka } from '../support/scenes/kafka-installation.js';
import { listWebhooks, paymentEvents, publishEvents } from '../support/scenes/story.js';
import { asUser, withListeners } from '../support/servers/own-kafka.js';
import type { ReceivedRequest } from '../support/servers/receiver.js';

const ACCOUNT = 7;
const DISPATCHER = ['--roles', 'dispatcher'];
const PATIENCE = { timeout: 40_000 };
const USER = 'guest';
const REFUSED = /Kafka denies a permission that the service needs \(GROUP_AUTHORIZATION_FAILED\)/;

withListeners((listeners) => {
  const { CLIENTS: brokers } = listeners;
  let scene: FaultScene;
  afterEach(() => scene?.close());

  /** @returns the prefix of its topics and groups */
  async function openPermitted(statusOf: (request: ReceivedRequest) => number = () => 200): Promise<string> {
    const settings = { ...kafkaSettingsOn(brokers), ...asUser(listeners, USER) };
    scene = await FaultScene.open(onKafka(settings), { respond: (request) => ({ status: statusOf(request) }) });
    await permit(brokers, ...everything(USER, settings.TOPIC_PREFIX));
    return settings.TOPIC_PREFIX;
  }

  test('a permission that is taken away ends a dispatcher with code 1, as it ends the next one, and not the API beside one', async () => {
    const prefix = await openPermitted();
    const { settings, receiver } = scene;
    const [both, dispatcher] = await Promise.all([scene.serve(), scene.serve(elsewhere(settings), DISPATCHER)]);
    const token = await scene.account(both, ACCOUNT, scene.urls('/in'));

    const group = { kind: 'group', name: `${prefix}account-webhooks` } as const;
    const permitAgain = await deny(brokers, { user: USER, ...group, operation: 'Read' });
    expect(await dispatcher.exited).toBe(1);
    expect(dispatcher.log()).toMatch(REFUSED);
    const later = await scene.starting(elsewhere(settings), DISPATCHER);
    expect(await later.exited).toBe(1);
    expect(later.log()).toMatch(REFUSED);
    const ready = async () => JSON.stringify(await readiness(both));
    await eventually(async () => REFUSED.test(await ready()), PATIENCE);
    expect((await listWebhooks(both, token)).status).toBe(200);

    await permitAgain();
    await publishEvents(settings, paymentEvents(ACCOUNT, 3));
    await eventually(() => distinct(receiver.requests) === 3, PATIENCE);
    await eventually(async () => !REFUSED.test(await ready()), PATIENCE);
    expect(await both.stop('SIGTERM')).toBe(0);
  });

  test('a tier that it may not write to ends a dispatcher with one line and code 1, and what was done is sent once', async () => {
    const isBlocked = ({ body }: ReceivedRequest) => body.toString().includes('"blocked-0"');
    let status = 503;
    const tier = `${await openPermitted((request) => (isBlocked(request) ? status : 200))}webhooks.retry.200ms`;
    const { settings, receiver } = scene;
    const api = await scene.serve({}, ['--roles', 'api']);
    await scene.account(api, ACCOUNT, scene.urls('/in'));
    await api.stop('SIGTERM');
    const service = await scene.serve({ RETRY_SCHEDULE: '200ms' }, DISPATCHER);
    const permitAgain = await deny(brokers, { user: USER, kind: 'topic', name: tier, operation: 'Write' });
    await publishEvents(settings, paymentEvents(ACCOUNT, 1, 'blocked-') + paymentEvents(ACCOUNT, 50, 'behind-'));
    expect(await service.exited).toBe(1);
    const says = `Kafka denies a permission that the service needs (TOPIC_AUTHORIZATION_FAILED): to write to ${tier}`;
    expect(service.log().trim().split('\n').at(-1)).toBe(`account-webhooks: ${says}`);
    const failures = service
      .log()
      .split('\n')
      .filter((line) => line.includes('TOPIC_AUTHORIZATION_FAILED'));
    expect(failures.length).toBeLessThan(5);

    await permitAgain();
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
