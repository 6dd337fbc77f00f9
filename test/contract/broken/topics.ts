/** Brokers that each violate one sentence of the contract, and the cases that must see it: what is published and read. */
import type { Broker, CompletedAhead, NewRecord } from '../../../src/ports/broker.js';
import type { Breaking, Broken } from './event-stores.js';

/** Only `publish` is wrong: other records are published. */
function publishing(change: (records: readonly NewRecord[]) => readonly NewRecord[]): Breaking<Broker> {
  return (inner) => ({ publish: (topic, records) => inner.publish(topic, change(records)) });
}

/** Only `completedAhead` is wrong. */
function completingAhead(change: (ahead: CompletedAhead) => CompletedAhead): Breaking<Broker> {
  return (inner) => ({
    completedAhead: async (group, topic) => {
      const ahead = await inner.completedAhead(group, topic);
      return new Map([...ahead].map(([partition, done]) => [partition, change(done)]));
    },
  });
}

const PARTS = 'a group names the parts that it has done of a record that it has not';
const OFFSETS = 'publish gives the offset of each record, in the order of its call';

export const BROKEN_TOPICS: readonly Broken<Broker>[] = [
  [
    'drops the last record',
    publishing((records) => records.slice(0, -1)),
    'what publish resolved for is in the topic at once',
    'what publish resolved for is there when the broker is opened again',
  ],
  [
    'numbers the records of a call, not those of the topic',
    (inner) => ({
      publish: async (topic, records) => (await inner.publish(topic, records)).map((_, n) => n),
    }),
    OFFSETS,
  ],
  [
    'publishes in the wrong order',
    publishing((records) => records.toReversed()),
    'records of one call keep their order within a partition',
  ],
  [
    'keeps one header of a name',
    publishing((records) => records.map((record) => ({ ...record, headers: [...new Map(record.headers)] }))),
    'a header name twice comes back as it was published, by browse and by consume',
  ],
  [
    'takes bytes for text',
    publishing((records) =>
      records.map((record) => ({ ...record, value: record.value && Buffer.from(String(record.value)) })),
    ),
    'a value with every byte comes back as it was published, by browse and by consume',
  ],
  [
    'reads the first record of the batch',
    (inner) => ({ read: (topic, partition, offset) => inner.read(topic, partition, Math.max(0, offset - 1)) }),
    'read gives each record by its place, wherever it is in its batch',
  ],
  [
    'stops following at the end of the topic',
    (inner) => ({
      async *follow(topic, positions, options) {
        for await (const page of inner.follow(topic, positions, options)) {
          yield page;
          if (page.items.length > 0 && page.position.offset >= page.end) return;
        }
      },
    }),
    'follow gives every record in order, and what is published later, and ends where it aborts',
  ],
  [
    'follows from the oldest',
    (inner) => ({ follow: (topic, _, options) => inner.follow(topic, new Map(), options) }),
    'follow goes on at the positions of a reader, and gives it nothing twice',
  ],
  [
    'trusts an offset alone, and follows a topic that was recreated',
    (inner) => ({
      follow(topic, positions, options) {
        const trusted = [...positions].map(([partition, { offset }]) => [partition, { offset, before: null }] as const);
        return inner.follow(topic, new Map(trusted), options);
      },
    }),
    'where another record is before the position, or the topic is shorter, it was recreated',
  ],
  [
    'leaves out the unreadable',
    (inner) => ({
      async *follow(topic, positions, options) {
        for await (const page of inner.follow(topic, positions, options))
          yield { ...page, items: page.items.filter((item) => 'offset' in item) };
      },
    }),
    'follow gives an unreadable batch in its place, and goes on behind it',
  ],
  [
    'commits only what is done',
    (inner) => ({
      committed: async (group, topic) =>
        new Map([...(await inner.committed(group, topic))].filter(([, offset]) => offset > 0)),
    }),
    'a new group commits where it starts, before any record is done',
  ],
  [
    'names nothing that is done out of order',
    () => ({ completedAhead: async () => new Map() }),
    'a group names the records that it has done after one that it has not',
    PARTS,
  ],
  ['names no part of a record', completingAhead(({ records }) => ({ records, parts: new Map() })), PARTS],
  [
    'names a record as done once a part of it is',
    completingAhead(({ records, parts }) => ({ records: new Set([...records, ...parts.keys()]), parts })),
    PARTS,
  ],
];
