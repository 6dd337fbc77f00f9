/** What a topic refuses is said, for as long as somebody may be waiting for it. */
import type { Backbone } from '../../src/composition/backbone.js';
import { type BrokerContact, refusalsText, watchBackbone } from '../../src/composition/watched-backbone.js';
import type { StoreMetrics } from '../../src/observability/metrics.js';
import { BrokerRefused, BrokerUnavailable, RecordRefused } from '../../src/ports/broker.js';

const MINUTE_MS = 60_000;

it('names the topics that refuse records, or us, until a minute after the last refusal', async () => {
  const contact: BrokerContact = { why: null, refusals: new Map() };
  const answers = new Map<string, Error>([
    ['payments', new RecordRefused('payments refuses the record (MESSAGE_TOO_LARGE)')],
    ['dead', new BrokerRefused('Kafka denies a permission: to write to dead')],
    ['away', new BrokerUnavailable('no answer')],
  ]);
  const publish = async (topic: string) => {
    const error = answers.get(topic);
    if (error) throw error;
  };
  const backbone = { store: { append: publish }, broker: { publish, read: async () => null } } as unknown as Backbone;
  const metrics = { publishFailed: () => undefined } as unknown as StoreMetrics;
  watchBackbone(backbone, metrics, contact);
  const { broker } = backbone;
  expect(refusalsText(contact, performance.now())).toBeNull();
  for (const topic of [...answers.keys()]) await expect(broker.publish(topic, [])).rejects.toThrow();
  answers.clear();
  // A small record passes where a large one is refused.
  await broker.publish('payments', []);
  const both = 'payments refuses the record (MESSAGE_TOO_LARGE); Kafka denies a permission: to write to dead';
  expect(refusalsText(contact, performance.now())).toBe(both);
  expect(refusalsText(contact, performance.now() + MINUTE_MS)).toBeNull();
});

it('clears the fault of a publish once a read succeeds, but not by a read that fails', async () => {
  const contact: BrokerContact = { why: null, refusals: new Map() };
  let error: Error | null = new BrokerUnavailable('no answer');
  const answer = async () => {
    if (error) throw error;
    return null;
  };
  const backbone = { store: { append: answer }, broker: { publish: answer, read: answer } } as unknown as Backbone;
  watchBackbone(backbone, { publishFailed: () => undefined } as unknown as StoreMetrics, contact);
  const { broker } = backbone;
  await expect(broker.publish('payments', [])).rejects.toThrow();
  await expect(broker.read('payments', 0, 0)).rejects.toThrow();
  expect(contact.why).toBe('no answer');
  error = null;
  await broker.read('payments', 0, 0);
  expect(contact.why).toBeNull();
});
