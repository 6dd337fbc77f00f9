/** Faults of consumers that /health/ready reports while the process stays ready. */
import { startCore } from '../../src/composition/core.js';
import { startDispatching } from '../../src/composition/dispatcher.js';
import { OWN_GROUP } from '../../src/delivery/topics.js';
import { createMetrics } from '../../src/observability/metrics.js';
import { type PartState, Readiness } from '../../src/observability/readiness.js';
import type { Broker, ConsumerState } from '../../src/ports/broker.js';
import { readConfig } from '../../src/settings/read-config.js';
import { eventually } from '../support/clocks/eventually.js';
import { undoneAfterEach } from '../support/scenes/at-end.js';
import { silentLogger } from '../support/scenes/silent-logger.js';
import { poisonTopic } from '../support/scenes/sqlite-subjects.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { withMethods } from '../support/scenes/with-methods.js';

const atEnd = undoneAfterEach();

/** @param prepare called before the dispatcher starts @returns the state of a part of /health/ready */
async function dispatching(prepare: (broker: Broker, dataDir: string) => unknown) {
  const { path, remove } = temporaryDirectory();
  atEnd(remove);
  const config = readConfig({ DATA_DIR: path, RETRY_SCHEDULE: '1h' });
  const metrics = createMetrics({ eventTypes: [], failureCodes: [], version: '1', roles: [] });
  atEnd(() => metrics.close());
  const readiness = new Readiness();
  const stops: (() => unknown)[] = [];
  atEnd(async () => {
    for (const stop of stops.reverse()) await stop();
  });
  const givenUp = new Promise<never>(() => undefined);
  const start = { config, logger: silentLogger, metrics, tracing: null, readiness, givenUp };
  const core = await startCore(start, stops as never);
  await prepare(core.backbone.broker, path);
  await startDispatching(core, { again: false }, stops as never);
  return (name: string): Partial<PartState> | undefined => {
    const { part: _, ...state } = readiness.parts.find(({ part }) => part === name) ?? {};
    return state;
  };
}

/** Every consumer reports these applications in its group. */
function plantForeign(broker: Broker, inGroup: (group: string) => readonly string[]): void {
  const consume = broker.consume.bind(broker);
  broker.consume = async (options) => {
    const consumer = await consume(options);
    const state = (): ConsumerState => ({ ...consumer.state(), foreign: inGroup(options.group) });
    return withMethods(consumer, { state });
  };
}

describe('another application in the consumer groups', () => {
  it('is reported for each group, with the remedy', async () => {
    const part = await dispatching((broker) => plantForeign(broker, (group) => [`billing is in ${group}`]));
    const groups = ['account-webhooks', 'account-webhooks.retry', 'account-webhooks.notices'];
    const why = `${groups.map((group) => `billing is in ${group}`).join('; ')}: ${OWN_GROUP}`;
    expect(part('consumer groups')).toEqual({ ready: false, needed: false, why });
  });

  it('is reported once if several consumers report the same', async () => {
    const part = await dispatching((broker) => plantForeign(broker, () => ['billing is in a group']));
    expect(part('consumer groups')?.why).toBe(`billing is in a group: ${OWN_GROUP}`);
  });

  it('is not reported if no consumer reports any', async () => {
    const part = await dispatching(() => undefined);
    expect(part('consumer groups')).toEqual({ ready: true, needed: false });
  });
});

test('a partition of payments and one of retries are reported if more than 20 batches in a row are unreadable', async () => {
  const topics = ['payment-events', 'webhooks.retry.1h'];
  const part = await dispatching(async (broker, dataDir) => {
    await broker.ensureTopics(topics);
    for (const topic of topics) for (let count = 0; count < 22; count += 1) poisonTopic(dataDir, topic);
  });
  const [one, other] = topics.map(
    (topic) => `partition 0 of ${topic} waits at offset 20: more than 20 batches in a row`,
  );
  // Exactly 20: record-lane.test.ts.
  const both = expect.stringMatching(`^${one} .* each waits for a minute; ${other} .* each waits for a minute$`);
  await eventually(() => part('partitions')?.why?.includes('; '), { message: 'the pauses are not reported' });
  expect(part('partitions')).toEqual({ ready: false, needed: false, why: both });
});
