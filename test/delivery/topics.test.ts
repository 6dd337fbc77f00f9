import { topicsOf } from '../../src/delivery/topics.js';

const DELAY = { text: '30m', ms: 1_800_000 };

describe('the names of topics', () => {
  const topicNames: readonly (readonly [topic: string, prefix: string, isTier: boolean])[] = [
    ['webhooks.retry.5s', '', true],
    ['webhooks.deferred.5s', '', true],
    ['webhooks.deferred', '', false],
    ['webhooks.other.5s', '', false],
    ['webhooks.retry.notes', '', false],
    ['payment-events', '', false],
    ['staging.webhooks.retry.5s', '', false],
    ['staging.webhooks.retry.5s', 'staging.', true],
    ['webhooks.retry.5s', 'staging.', false],
    ['stagingXwebhooks.retry.5s', 'staging.', false],
  ];
  test.each(topicNames)('%s with the prefix %j: a tier of this installation is %s', (topic, prefix, isTier) => {
    expect(topicsOf(['payment-events'], prefix).isTier(topic)).toBe(isTier);
  });

  test('a tier of the schedule and one of deferred deliveries have names of their own', () => {
    const { retry, deferred } = topicsOf(['payment-events'], 'a.').tiers([DELAY]);
    expect(retry).toEqual([{ text: '30m', ms: 1_800_000, topic: 'a.webhooks.retry.30m' }]);
    expect(deferred.map(({ text }) => text)).toEqual(
      ['5s', '10s', '20s', '40s', '80s', '160s', '5m', '10m', '30m'].map((text) => `deferred.${text}`),
    );
    expect(topicsOf(['payment-events'], 'a.').tierOf('a.webhooks.deferred.30m')).toEqual(deferred.at(-1));
  });

  test('the own topics are those of this prefix, and no payment topic', () => {
    const own = ['a.webhooks.retry.5s', 'a.webhooks.deferred.10s', 'a.webhooks.dead-letter', 'a.webhooks.deliveries'];
    const others = ['payment-events', 'a.payment-events', 'webhooks.deliveries', 'a.webhooks.deliveries.x'];
    expect([...own, ...others].filter(topicsOf(['payment-events'], 'a.').isOwn)).toEqual(own);
  });
});
