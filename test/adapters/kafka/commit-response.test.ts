/** What becomes of a commit that Kafka did not take, as kafkajs sees it: only what may be sent again is. */
import { installRepairs } from '../../../src/adapters/kafka/kafkajs-repairs/install.js';
import { offsetCommitProtocol } from '../../../src/adapters/kafka/kafkajs-repairs/kafkajs-internals.js';

const VERSIONS = [0, 1, 2, 3, 4, 5];

beforeAll(installRepairs);

function answered(version: number, errorCode: number): Promise<unknown> {
  const make = offsetCommitProtocol.protocol({ version });
  if (!make) throw new Error(`kafkajs has no version ${version}`);
  const { response } = make({ groupId: 'g', groupGenerationId: 1, memberId: 'm', topics: [] });
  return response.parse({ responses: [{ topic: 't', partitions: [{ partition: 0, errorCode }] }] });
}

it.each(VERSIONS)('a commit to a topic that is gone is not sent again (version %d)', async (version) => {
  const refused = { type: 'UNKNOWN_TOPIC_OR_PARTITION', retriable: false };
  await expect(answered(version, 3)).rejects.toMatchObject(refused);
});

it.each(VERSIONS)('a commit that its coordinator did not take yet is sent again (version %d)', async (version) => {
  const refused = { type: 'GROUP_LOAD_IN_PROGRESS', retriable: true };
  await expect(answered(version, 14)).rejects.toMatchObject(refused);
});

it('a commit that was taken is resolved', async () => {
  await expect(answered(5, 0)).resolves.toBeDefined();
});
