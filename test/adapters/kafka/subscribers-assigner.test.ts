import kafkajs, { type Cluster, type Logger } from 'kafkajs';
import { assigned, subscribersAssigner } from '../../../src/adapters/kafka/kafkajs-repairs/subscribers-assigner.js';

const { MemberAssignment } = kafkajs.AssignerProtocol;
const from = (entries: Record<string, string[]>) => new Map(Object.entries(entries));
const ofThree = (...topics: string[]) => new Map(topics.map((topic) => [topic, [0, 1, 2]]));

it('gives every partition to one subscriber of its topic, as many to each as can be', () => {
  const both = assigned(from({ a: ['one', 'two'], b: ['one', 'two'] }), ofThree('a', 'b'));
  expect(both).toEqual(
    new Map([
      ['one', { a: [0, 2], b: [1] }],
      ['two', { a: [1], b: [0, 2] }],
    ]),
  );
  const apart = assigned(from({ a: ['one', 'two'], b: ['two'], c: ['one'] }), ofThree('a', 'b', 'c'));
  expect(apart.get('one')).toEqual({ a: [0, 2], c: [0, 1, 2] });
  expect(apart.get('two')).toEqual({ a: [1], b: [0, 1, 2] });
});

it('gives the same in whatever order members and topics come', () => {
  const one = assigned(from({ a: ['x', 'y', 'z'], b: ['z', 'y'] }), ofThree('a', 'b'));
  const other = assigned(from({ b: ['y', 'z'], a: ['z', 'x', 'y'] }), new Map([...ofThree('b', 'a')].reverse()));
  expect(other).toEqual(one);
});

it('gives nothing of a topic that is gone', () => {
  expect(assigned(from({ a: ['one'] }), new Map([['a', []]]))).toEqual(new Map());
});

it('asks for the partitions of what only others subscribe, where the leader is another', async () => {
  const cluster = { findTopicPartitionMetadata: (topic: string) => (topic === 'a' ? [{ partitionId: 0 }] : []) };
  const divided = jest.fn();
  const assigner = subscribersAssigner(async (topic) => (topic === 'new' ? [0, 1] : []), { divided })({
    cluster: cluster as unknown as Cluster,
    groupId: 'g',
    logger: {} as Logger,
  });
  const member = (memberId: string, topics: string[]) => ({
    memberId,
    memberMetadata: assigner.protocol({ topics }).metadata,
  });
  const members = [member('leader', ['a']), member('newer', ['a', 'new'])];
  const given = await assigner.assign({ members, topics: ['a'] });
  expect(divided).toHaveBeenCalledWith(['leader', 'newer']);
  const decoded = given.map(({ memberId, memberAssignment }) => [
    memberId,
    MemberAssignment.decode(memberAssignment)?.assignment,
  ]);
  expect(Object.fromEntries(decoded)).toEqual({ leader: { a: [0] }, newer: { new: [0, 1] } });
});
