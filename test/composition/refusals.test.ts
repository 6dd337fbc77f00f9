/** What a topic refuses is said, for as long as somebody may be waiting for it. */
import type { Backbone } from '../../src/composition/backbone.js';
import {
  type BrokerContact,
  refusalsText,
  watchBackbone,
  watchFollowing,
} from '../../src/composition/watched-backbone.js';
import type { StoreMetrics } from '../../src/observability/metrics.js';
import { BrokerRefused, BrokerUnavailable, RecordRefused } from '../../src/ports/broker.js';

const MINUTE_MS = 60_000;

it('names the topics that refuse records, or us, until a minute after the last refusal', async () => {
  const contact: BrokerContact = { why: null, failures: 0, refusals: new Map() };
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
  const contact: BrokerContact = { why: null, failures: 0, refusals: new Map() };
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

describe('pages that a process without a dispatcher follows', () => {
  /** @returns `why` of the contact after each step: a page of this partition arrives, or a publish fails */
  async function faultsAfter(...steps: readonly (number | 'failure')[]): Promise<readonly (string | null)[]> {
    const contact: BrokerContact = { why: null, failures: 0, refusals: new Map() };
    const fails = () => Promise.reject(new BrokerUnavailable('no answer'));
    const partitions = steps.filter((step) => step !== 'failure');
    async function* follow() {
      for (const partition of partitions) yield { partition };
    }
    const backbone = {
      store: { append: fails },
      broker: { publish: fails, read: fails, follow },
    } as unknown as Backbone;
    watchBackbone(backbone, { publishFailed: () => undefined } as unknown as StoreMetrics, contact);
    watchFollowing(backbone, contact);
    const { signal } = new AbortController();
    const pages = backbone.broker.follow('deliveries', new Map(), { signal })[Symbol.asyncIterator]();
    const faults: (string | null)[] = [];
    for (const step of steps) {
      await (step === 'failure' ? backbone.broker.publish('payments', []).catch(() => undefined) : pages.next());
      faults.push(contact.why);
    }
    return faults;
  }

  it('clear the fault of a publish with the second page of a partition', async () => {
    expect(await faultsAfter('failure', 0, 0)).toEqual(['no answer', 'no answer', null]);
  });

  it('do not clear it if they may have been fetched before it', async () => {
    expect(await faultsAfter(0, 1, 'failure', 0, 1)).toEqual([null, null, ...Array(3).fill('no answer')]);
  });

  it('do not clear a later fault by what was fetched after an earlier one', async () => {
    expect(await faultsAfter('failure', 0, 'failure', 0, 0)).toEqual([...Array(4).fill('no answer'), null]);
  });
});
