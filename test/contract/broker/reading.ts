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
    for (const one of all) expect(await s.read(one.partition, one.offset)).toEqual(one);
  }),
  brokerCase('read is null behind the end, and in a partition or topic that does not exist', async (s) => {
    await s.publish(['a']);
    const [{ partition, offset } = { partition: 0, offset: 0 }] = await s.browse();
    expect(await s.read(partition, offset + 1)).toBeNull();
    expect(await s.read(partition, offset + 1_000)).toBeNull();
    expect(await s.read(99, offset)).toBeNull();
    expect(await s.read(0, 0, unique('no-topic'))).toBeNull();
  }),
  brokerCase(
    'read is null for what can not be read',
    async (s) => {
      await s.publish(['a']);
      const [{ partition, offset } = { partition: 0, offset: 0 }] = await s.browse();
      await s.subject.poison(s.topic);
      expect(await s.read(partition, offset + 1)).toBeNull();
      expect(await s.read(partition, offset)).toMatchObject({ offset });
    },
    'poison',
  ),
];
