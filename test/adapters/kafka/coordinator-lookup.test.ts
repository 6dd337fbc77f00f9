import { describe, expect, it } from '@jest/globals';
import type { Cluster } from 'kafkajs';
import { beforeJoin, tellRefusedLookups } from '../../../src/adapters/kafka/kafkajs-repairs/coordinator-lookup.js';

const GROUP = { groupId: 'g' };
const MISSING = Object.assign(new Error('Failed to find group coordinator'), {
  name: 'KafkaJSGroupCoordinatorNotFound',
});
const failure = (type: string) => Object.assign(new Error(type), { type });

interface Looked {
  findGroupCoordinator(of: typeof GROUP): Promise<unknown>;
}

/** A cluster of one broker. @param look what a look-up becomes. @param answer what the broker says when it is asked itself */
function cluster(look: () => Promise<unknown>, answer: () => Promise<unknown> = look): Cluster & Looked {
  const broker = { findGroupCoordinator: answer };
  const made = { findGroupCoordinator: look, findBroker: async () => broker, getNodeIds: () => ['1'] };
  return made as unknown as Cluster & Looked;
}

describe('a look-up that found no coordinator', () => {
  const looked = (answer: () => Promise<unknown>) => {
    const one = cluster(() => Promise.reject(MISSING), answer);
    tellRefusedLookups(one);
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
  for (const one of [failing, found]) tellRefusedLookups(one);
  await expect(failing.findGroupCoordinator(GROUP)).rejects.toBe(broken);
  expect(await found.findGroupCoordinator(GROUP)).toBe('found');
});

it('waits for the work before a join', async () => {
  const order: string[] = [];
  const one = cluster(async () => order.push('look-up'));
  beforeJoin(one, async () => void order.push('work'));
  await one.findGroupCoordinator(GROUP);
  expect(order).toEqual(['work', 'look-up']);
});
