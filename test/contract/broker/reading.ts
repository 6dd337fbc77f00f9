import { unique } from '../contract.js';
import { type BrokerCase, brokerCase, named, record } from './inbox.js';

export const reading: BrokerCase[] = [
  brokerCase('read gives each record by its place, wherever it is in its batch', async (s) => {
    const header = ['a', Buffer.from('b')] as const;
    await s.broker.publish(s.topic, [
      ...named(20).map((name) => record(name)),
      { ...record('last'), headers: [header] },
    ]);
    await s.publish(['alone']);
    const all = await s.browse();
    expect(all).toHaveLength(22);
    for (const one of all) expect(await s.broker.read(s.topic, one.partition, one.offset)).toEqual(one);
  }),
  brokerCase('read is null behind the end, and in a partition or topic that does not exist', async (s) => {
    await s.publish(['a']);
    const [{ partition, offset } = { partition: 0, offset: 0 }] = await s.browse();
    expect(await s.broker.read(s.topic, partition, offset + 1)).toBeNull();
    expect(await s.broker.read(s.topic, partition, offset + 1_000)).toBeNull();
    expect(await s.broker.read(s.topic, 99, offset)).toBeNull();
    expect(await s.broker.read(unique('no-topic'), 0, 0)).toBeNull();
  }),
  brokerCase(
    'read is null for what can not be read',
    async (s) => {
      await s.publish(['a']);
      const [{ partition, offset } = { partition: 0, offset: 0 }] = await s.browse();
      await s.subject.poison(s.topic);
      expect(await s.broker.read(s.topic, partition, offset + 1)).toBeNull();
      expect(await s.broker.read(s.topic, partition, offset)).toMatchObject({ offset });
    },
    'poison',
  ),
];
