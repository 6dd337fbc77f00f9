/** When a consumer gives up its client for another one, and when it ends. */
import kafkajs from 'kafkajs';
import { BrokerRefused, BrokerUnavailable } from '../../../src/ports/broker.js';
import { patience } from '../../runner/patience.js';
import { eventually } from '../../support/clocks/eventually.js';
import { ConsumerScene } from '../../support/scenes/consumer-scene.js';

/** Between two heartbeats of a test a busy machine may take a while. */
const STUCK_MS = Math.ceil(1_000 * patience());
const LONGER_THAN_STUCK_MS = 1.2 * STUCK_MS;

let scene: ConsumerScene;
beforeEach(async () => {
  scene = await ConsumerScene.begin();
});
afterEach(() => scene.consumer.close());

describe('a client that its group does not confirm', () => {
  beforeEach(async () => {
    await scene.consumer.close();
    scene = await ConsumerScene.begin({ stuckMs: STUCK_MS });
  });

  const made = () => ({ made: scene.client.made, runs: scene.client.runs });

  it('is given up: another one takes its place, and goes on where it was', async () => {
    await scene.joined();
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.client.made > 1 && scene.client.runs > 1);
    expect(scene.client.disconnects).toBeGreaterThan(0);
    scene.starts.set('t', 10);
    await scene.client.join({ t: [0] }, 'another-member');
    await eventually(() => scene.client.calls.at(-1) === 'resume t' && scene.client.calls.includes('seek t 10'));
    await scene.client.fetched('t', 8, 11);
    await eventually(() => scene.offsets.at(-1)?.includes('t 12'));
    expect(scene.handled.map(({ offset }) => offset)).toEqual([5, 6, 7, 8, 9, 10, 11]);
  });

  it('is given up though it fetches and its heartbeats are answered: a join that it began never ended', async () => {
    await scene.client.join({ t: [0] });
    expect(scene.consumer.state().connected).toBe(true);
    await scene.client.beginJoin();
    await eventually(async () => {
      await scene.client.heartbeat();
      await scene.client.emit('FETCH_START', {});
      return !scene.consumer.state().connected;
    });
    await eventually(async () => {
      await scene.client.heartbeat();
      return scene.client.made > 1 && scene.client.runs > 1;
    });
  });

  it('is kept while its heartbeats are answered', async () => {
    await scene.client.join({ t: [0] });
    const until = performance.now() + LONGER_THAN_STUCK_MS;
    await eventually(async () => {
      await scene.client.heartbeat();
      return performance.now() > until;
    });
    expect(made()).toEqual({ made: 1, runs: 1 });
    expect(scene.consumer.state().connected).toBe(true);
  });

  it('neither joins nor fetches once it is closed: kafkajs runs on in the middle of a join', async () => {
    const { cluster } = scene.client;
    await scene.consumer.close();
    await expect(cluster.findGroupCoordinator({ groupId: 'g' })).rejects.toThrow('the client was replaced or closed');
  });

  it('neither joins nor fetches nor starts again once another one has its place', async () => {
    const { restartOnFailure, cluster } = scene.client;
    await eventually(() => scene.client.made > 1);
    const replaced = { name: 'KafkaJSNonRetriableError', message: 'the client was replaced or closed' };
    await expect(cluster.findGroupCoordinator({ groupId: 'g' })).rejects.toMatchObject(replaced);
    await expect(cluster.findBroker({ nodeId: '1' })).rejects.toMatchObject(replaced);
    expect(await restartOnFailure(new Error('Kafka is away'))).toBe(false);
    await scene.client.beginJoin();
    expect(await scene.client.restartOnFailure(new Error('Kafka is away'))).toBe(true);
  });

  it('is kept while it joined and only its place is not known: that is asked for again', async () => {
    await scene.joined();
    scene.starts.delete('t');
    await scene.client.join({ t: [0] }, 'another-member');
    const until = performance.now() + LONGER_THAN_STUCK_MS;
    await eventually(async () => {
      await scene.client.heartbeat();
      return performance.now() > until;
    });
    expect(made()).toEqual({ made: 1, runs: 1 });
  });

  it('is not replaced once the consumer stops', async () => {
    scene.consumer.stop();
    const until = performance.now() + LONGER_THAN_STUCK_MS;
    await eventually(() => performance.now() > until);
    expect(made()).toEqual({ made: 1, runs: 1 });
  });
});

it('closes the connections of a client that could not start: kafkajs would not open others', async () => {
  scene.client.subscribe = async () => Promise.reject(new Error('Broker not connected'));
  const { disconnects } = scene.client;
  await expect(scene.consumer.start()).rejects.toThrow(BrokerUnavailable);
  expect(scene.client.disconnects).toBe(disconnects + 1);
});

describe('a crash', () => {
  const lost = new kafkajs.KafkaJSNumberOfRetriesExceeded(new Error('lost'), { retryCount: 5, retryTime: 300 });

  it('is not the end where a new try may mend it', async () => {
    expect(await scene.client.restartOnFailure(lost)).toBe(true);
    await scene.client.emit('CRASH', { error: lost, restart: true });
    expect(scene.ensured).toEqual([]);
  });

  it('is not the end where kafkajs found no coordinator and gave up: it is started again', async () => {
    const missing = Object.assign(new Error('Failed to find group coordinator'), {
      name: 'KafkaJSGroupCoordinatorNotFound',
    });
    const runs = scene.client.runs;
    await scene.client.emit('CRASH', { error: missing, restart: false });
    await eventually(() => scene.client.runs === runs + 1);
  });

  it('is not the end where Kafka did not answer our own question about a topic that others subscribe to', async () => {
    const cause = new BrokerUnavailable('Kafka did not answer in time');
    const unanswered = Object.assign(new kafkajs.KafkaJSNonRetriableError('a failed join'), { cause });
    const runs = scene.client.runs;
    await scene.client.emit('CRASH', { error: unanswered, restart: false });
    await eventually(() => scene.client.runs === runs + 1);
  });

  it('makes the topics anew where one is gone', async () => {
    const unknown = Object.assign(new Error('gone'), { type: 'UNKNOWN_TOPIC_OR_PARTITION' });
    await scene.client.emit('CRASH', { error: unknown, restart: true });
    expect(scene.ensured).toEqual(['ensure t,u']);
  });

  it('is the end where Kafka will not have us: no new try, and closed is rejected', async () => {
    const refused = new kafkajs.KafkaJSNumberOfRetriesExceeded(
      Object.assign(new Error('not permitted'), { type: 'GROUP_AUTHORIZATION_FAILED' }),
      { retryCount: 5, retryTime: 300 },
    );
    expect(await scene.client.restartOnFailure(refused)).toBe(false);
    await scene.client.emit('CRASH', { error: refused, restart: false });
    await expect(scene.consumer.closed).rejects.toThrow(BrokerRefused);
  });
});
