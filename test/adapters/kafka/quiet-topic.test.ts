/** The readiness of an API process depends on it: see watchFollowing. */
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { unique } from '../../contract/contract.js';
import { kafkaSettings, withKafka } from '../../support/scenes/kafka-subjects.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';

withKafka((brokers) => {
  test('a follower gets pages while nothing is published', async () => {
    const broker = new KafkaBroker(kafkaSettings(brokers), silentLogger);
    const topic = unique('topic');
    const ending = new AbortController();
    const pages: number[] = [];
    try {
      await broker.ensureTopics([topic]);
      for await (const { partition, items } of broker.follow(topic, new Map(), { signal: ending.signal })) {
        expect(items).toEqual([]);
        pages.push(partition);
        if (pages.filter((one) => one === partition).length === 3) ending.abort();
      }
    } finally {
      await broker.close();
    }
    expect(pages.length).toBeGreaterThanOrEqual(3);
  });
});
