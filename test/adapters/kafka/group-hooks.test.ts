import type { Cluster } from 'kafkajs';
import { hookGroupClient } from '../../../src/adapters/kafka/kafkajs-repairs/group-hooks.js';

const GROUP = { groupId: 'g' };
const MISSING = Object.assign(new Error('Failed to find group coordinator'), {
  name: 'KafkaJSGroupCoordinatorNotFound',
});
const failure = (type: string) => Object.assign(new Error(type), { type });

interface Looked {
  findGroupCoordinator(of: typeof GROUP): Promise<unknown>;
  findBroker(of: { nodeId: string }): Promise<{ fetch(request: object): Promise<unknown> }>;
}

const fetched = jest.fn();

/** A cluster of one broker. @param look what a look-up becomes. @param answer what the broker says when it is asked itself */
function cluster(
  look: () => Promise<unknown>,
  answer: () => Promise<unknown> = look,
  joining = async () => {},
): Cluster & Looked {
  const broker = { findGroupCoordinator: answer, fetch: answer };
  const made = { findGroupCoordinator: look, findBroker: async () => broker, getNodeIds: () => ['1'] };
  const hooked = made as unknown as Cluster & Looked;
  hookGroupClient(hooked, { joining, waitMs: () => 1, fetched, isReplaced: () => false });
  return hooked;
}

describe('a look-up that found no coordinator', () => {
  const looked = (answer: () => Promise<unknown>) => {
    const one = cluster(() => Promise.reject(MISSING), answer);
    return one.findGroupCoordinator(GROUP);
  };

  it('is rejected with the refusal of Kafka, if it was one', async () => {
    const refusal = failure('GROUP_AUTHORIZATION_FAILED');
    await expect(looked(() => Promise.reject(refusal))).rejects.toBe(refusal);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['Kafka has one by now', async () => ({ coordinator: { nodeId: 1 } })],
    ['Kafka has another reason', () => Promise.reject(failure('COORDINATOR_NOT_AVAILABLE'))],
    ['the broker went away', () => Promise.reject(new Error('closed'))],
  ])('may pass where %s', async (_, answer) => {
    await expect(looked(answer)).rejects.toBe(MISSING);
  });
});

it('any other failure, and any answer, is told as it is, without another question', async () => {
  const asked = () => Promise.reject(new Error('asked again'));
  const broken = new Error('broken');
  const failing = cluster(() => Promise.reject(broken), asked);
  const found = cluster(async () => 'found', asked);
  await expect(failing.findGroupCoordinator(GROUP)).rejects.toBe(broken);
  expect(await found.findGroupCoordinator(GROUP)).toBe('found');
});

it('waits for the work before a join', async () => {
  const order: string[] = [];
  const lookUp = async () => order.push('look-up');
  const one = cluster(lookUp, lookUp, async () => void order.push('work'));
  await one.findGroupCoordinator(GROUP);
  expect(order).toEqual(['work', 'look-up']);
});

it('tells of all partitions of a fetch, and passes on those with records', async () => {
  const withRecords = { partition: 0, messages: [{ offset: '5' }] };
  const without = { partition: 1, messages: [] };
  const answer = { throttleTime: 0, responses: [{ topicName: 't', partitions: [withRecords, without] }] };
  const broker = await cluster(async () => answer).findBroker({ nodeId: '1' });
  const passed = { throttleTime: 0, responses: [{ topicName: 't', partitions: [withRecords] }] };
  expect(await broker.fetch({ topics: [] })).toEqual(passed);
  expect(fetched).toHaveBeenCalledWith(answer);
});

it('gathers records while they arrive, and waits for any record otherwise', async () => {
  const requests: object[] = [];
  const broker = {
    findGroupCoordinator: async () => ({}),
    async fetch(request: object) {
      requests.push(request);
      const messages = requests.length === 2 ? [{ offset: '5' }] : [];
      return { throttleTime: 0, responses: [{ topicName: 't', partitions: [{ partition: 0, messages }] }] };
    },
  };
  const one = {
    findGroupCoordinator: broker.findGroupCoordinator,
    findBroker: async () => broker,
    getNodeIds: () => ['1'],
  };
  const hooked = one as unknown as Cluster & Looked;
  hookGroupClient(hooked, { joining: async () => {}, waitMs: () => 700, fetched, isReplaced: () => false });
  for (let fetch = 0; fetch < 4; fetch += 1) await (await hooked.findBroker({ nodeId: '1' })).fetch({ topics: [] });
  expect(requests).toEqual([
    { topics: [], maxWaitTime: 700 },
    { topics: [], maxWaitTime: 700 },
    { topics: [], maxWaitTime: 5, minBytes: 65_536 },
    { topics: [], maxWaitTime: 700 },
  ]);
});
