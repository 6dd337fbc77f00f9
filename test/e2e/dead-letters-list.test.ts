import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KafkaBroker } from '../../src/adapters/kafka/broker.js';
import { topicsOf } from '../../src/delivery/topics.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { kafkaSettings, withKafka } from '../support/kafka-subjects.js';
import { run, type Settings } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';

const LETTERS = 60;
/** Records of one key share a partition; so many keys are in several. */
const KEYS = 7;

interface Listed {
  readonly at: string;
  readonly partition: number;
  readonly value: string;
}

withKafka((brokers) => {
  const prefix = `${randomUUID()}.`;
  const topic = topicsOf(['payments'], prefix).deadLetters;
  let settings: Settings;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ settings, remove } = await kafkaInstallation(brokers, [], { TOPIC_PREFIX: prefix }));
    const broker = new KafkaBroker(kafkaSettings(brokers), silentLogger);
    for (let n = 0; n < LETTERS; n += 1) {
      const record = { key: Buffer.from(`key ${n % KEYS}`), value: Buffer.from(String(n)), headers: [] };
      await broker.publish(topic, [record]);
    }
    await broker.close();
  });

  afterAll(() => remove());

  async function list(...more: string[]): Promise<Listed[]> {
    const { stdout } = await run(settings, ['dead-letters', 'list', '--json', ...more]);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Listed);
  }

  test('dead-letters list of several partitions is oldest first, and --limit gives the newest of them', async () => {
    const all = await list();
    expect(new Set(all.map(({ partition }) => partition)).size).toBeGreaterThan(1);
    expect(all.map(({ value }) => Number(value)).sort((one, other) => one - other)).toEqual([...Array(LETTERS).keys()]);
    const times = all.map(({ at }) => at);
    expect(times).toEqual([...times].sort());
    expect(await list('--limit', '5')).toEqual(all.slice(-5));
  });
});
