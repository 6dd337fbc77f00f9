/** From when to when a member of a group takes its partitions for its own. */
import { KafkaConsumer } from '../../../src/adapters/kafka/consumer.js';
import { GroupLease } from '../../../src/adapters/kafka/group-lease.js';
import type { TopicAdmin } from '../../../src/adapters/kafka/topic-admin.js';
import type { RecordHold } from '../../../src/ports/broker.js';
import { eventually } from '../../support/clocks/eventually.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';
import { FakeKafkaClient } from '../../support/servers/fake-kafka-client.js';

describe('a lease', () => {
  let regained: number;
  beforeEach(() => {
    regained = 0;
  });
  const leaseOf = (sessionTimeoutMs: number) => {
    const lease = new GroupLease(sessionTimeoutMs, () => {
      regained += 1;
    });
    lease.renewed(0);
    lease.joined();
    return lease;
  };

  it('holds from the answer to a join to the next request', async () => {
    const lease = leaseOf(60_000);
    expect([lease.holds, regained]).toEqual([true, 1]);
    lease.joining();
    expect(lease.holds).toBe(false);
    const settled = lease.settled();
    lease.renewed(0);
    expect(lease.holds).toBe(false);
    lease.joined();
    expect(await settled).toBe(true);
  });

  it('lapses without a heartbeat, and holds again with one that was sent since', async () => {
    const lease = leaseOf(50);
    await eventually(() => !lease.holds);
    const settled = lease.settled();
    lease.renewed(60);
    expect(lease.holds).toBe(false);
    lease.renewed(0);
    expect(await settled).toBe(true);
  });
});

describe('a consumer whose group is rebalanced', () => {
  let client: FakeKafkaClient;
  let consumer: KafkaConsumer;
  let holds: Map<string, RecordHold>;
  let end: () => void;

  beforeEach(async () => {
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    client = new FakeKafkaClient();
    holds = new Map();
    const groupStart = async (_: string, topics: readonly string[]) =>
      new Map(topics.map((topic) => [topic, new Map([[0, { offset: 5, committed: 5 }]])]));
    const admin = { groupStart } as unknown as TopicAdmin;
    const parts = { kafka: client.kafka, admin, sessionTimeoutMs: 60_000, logger: silentLogger };
    const handle = async ({ topic, offset }: { topic: string; offset: number }, hold: RecordHold) => {
      holds.set(`${topic} ${offset}`, hold);
      if (offset === 5) await ended;
    };
    consumer = new KafkaConsumer(parts, {
      topics: ['kept', 'lost'],
      group: 'g',
      inFlight: 10,
      accept: () => ({ handle }),
    });
    await consumer.start();
    await client.join({ kept: [0], lost: [0] });
    await eventually(() => client.calls.includes('seek lost 5'));
    await client.fetched('kept', 5, 6);
    await client.fetched('lost', 5, 6);
    await eventually(() => holds.size === 4);
  });
  afterEach(async () => {
    end();
    await consumer.close();
  });

  it('begins nothing until the join is answered, and answers for its records only then', async () => {
    await client.beginJoin();
    const told: string[] = [];
    const asking = [...holds].map(async ([place, hold]) => void told.push(`${place} ${await hold.isOwn()}`));
    await client.fetched('kept', 7, 7);
    for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect([told, [...holds.keys()].includes('kept 7')]).toEqual([[], false]);
    await client.join({ kept: [0] });
    await Promise.all(asking);
    expect(told.sort()).toEqual(['kept 5 true', 'kept 6 true', 'lost 5 false', 'lost 6 false']);
    await eventually(() => holds.has('kept 7'));
  });
});
