/** Brokers that each violate one sentence of the contract, and the cases that must see it: how records are handed out. */
import type { Broker, ConsumeOptions, Consumer, ReceivedRecord, RecordHandler } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { withMethods } from '../../support/with-methods.js';
import { OWNS, TAKES_NOTHING } from '../broker/holding.js';
import type { Breaking as BreakingOf, Broken } from './event-stores.js';

type Breaking = BreakingOf<Broker>;

/** Only the options of `consume` are others. */
function consuming(change: (options: ConsumeOptions) => ConsumeOptions): Breaking {
  return (inner) => ({ consume: (options) => inner.consume(change(options)) });
}

/** Only some methods of the consumer are wrong. */
function consumers(change: (consumer: Consumer) => Partial<Consumer>): Breaking {
  return (inner) => ({
    async consume(options) {
      const consumer = await inner.consume(options);
      return withMethods(consumer, change(consumer));
    },
  });
}

let groups = 0;
/** As if the broker were another one each time it is opened. */
const forgetsTheGroup: Breaking = (inner) => {
  const own = ++groups;
  return { consume: (options) => inner.consume({ ...options, group: `${options.group}-${own}` }) };
};

/** A rejected record is retried within one call. */
const keepsTheRejected = consuming(({ handler, ...options }) => ({
  ...options,
  async handler(record, hold) {
    for (let tries = 0; tries < 100; tries += 1) {
      const error = await handler(record, hold).catch(() => 'rejected');
      if (!error) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error('rejected');
  },
}));

/** A rejected record is retried, but a crash loses it. */
const commitsAtOnce: Breaking = (inner) => ({
  async consume(options) {
    const timers = new Set<NodeJS.Timeout>();
    const again: (...of: Parameters<RecordHandler>) => void = (...of) => {
      options.handler(...of).catch(() => timers.add(setTimeout(() => again(...of), 100)));
    };
    const consumer = await inner.consume({ ...options, handler: async (...of) => again(...of) });
    const stop = () => {
      consumer.stop();
      for (const timer of timers) clearTimeout(timer);
    };
    const close = () => {
      stop();
      return consumer.close();
    };
    return withMethods(consumer, { stop, close });
  },
});

/** Records done behind the group's offset come again. */
const remembersAnOffsetAlone: Breaking = (inner) => ({
  async consume(options) {
    const [topic = ''] = options.topics;
    const known = await inner.committed(options.group, topic);
    const consumer = await inner.consume(options);
    const hold = { isOwn: () => true, isPartDone: () => false, partDone: () => undefined };
    const ranges = new Map([...known].map(([partition, from]) => [partition, { from }]));
    for await (const record of topicRecords(inner, topic, { ranges }))
      options.handler(record, hold).catch(() => undefined);
    return consumer;
  },
});

/** Nobody counts the bytes of the rejected, which it holds itself. */
const forgetsBytesThatPause = consuming(({ handler, inFlightBytes = Number.POSITIVE_INFINITY, ...options }) => {
  let bytes = 0;
  return {
    ...options,
    async handler(record, hold) {
      if (bytes >= inFlightBytes) throw new Error('no room');
      bytes += record.value?.length ?? 0;
      try {
        await handler(record, hold);
      } finally {
        bytes -= record.value?.length ?? 0;
      }
    },
  };
});

/** After the first refusal, never asks again. */
const takesNoForAnAnswer = consuming(({ mayBegin, ...options }) => {
  let may = true;
  const asked = () => {
    may &&= mayBegin?.() ?? true;
    return may;
  };
  return { ...options, mayBegin: asked };
});

/** Rejects what may not begin, which takes places that others need. */
function rejecting({ handler, ...options }: ConsumeOptions, may: (record: ReceivedRecord) => boolean): ConsumeOptions {
  return {
    ...options,
    async handler(record, hold) {
      if (!may(record)) throw new Error('not now');
      await handler(record, hold);
    },
  };
}

const COMES_AGAIN = 'an unfinished record comes again after close, and records done before and behind it do not';
const MAY_BEGIN = 'while mayBegin says no, no further record is begun; then the others are, in order';
const NOT_COMMITTED = 'a batch whose promise was rejected is handed out again, and is not committed before';

export const BROKEN_CONSUMERS: readonly Broken<Broker>[] = [
  [
    'skips the rejected',
    consuming((options) => ({ ...options, handler: (...of) => options.handler(...of).catch(() => undefined) })),
    'a record that was rejected comes again until it is not, and others go on meanwhile',
    COMES_AGAIN,
  ],
  [
    'keeps a place for the rejected',
    keepsTheRejected,
    'with 1 in flight, 1 that pause stop no others',
    'while it pauses it counts to no limit',
    'the pause begins with 0.1 s and grows',
  ],
  [
    'ignores the limit in flight',
    consuming((options) => ({ ...options, inFlight: 10_000 })),
    'of one partition 4 of 4 in flight are unsettled, never more',
    'the limit in flight holds over all topics together',
  ],
  [
    'ignores the limit of bytes',
    consuming(({ inFlightBytes: _, ...options }) => options),
    'with 2,007 bytes in flight 3 records of 1,003 bytes are unsettled, never more',
    'one record always goes, however long it is and few bytes may be in flight',
  ],
  [
    'forgets to subscribe',
    consumers(() => ({ subscribe: async () => undefined })),
    'a consumer subscribes to a topic while it runs: it gets its records from the oldest on',
  ],
  ['ignores mayBegin', consuming(({ mayBegin: _, ...options }) => options), MAY_BEGIN],
  ['asks mayBegin until it says no', takesNoForAnAnswer, MAY_BEGIN],
  [
    'holds the rejected too',
    consuming((options) => rejecting(options, () => options.mayBegin?.() ?? true)),
    'a rejected record comes again while mayBegin says no',
  ],
  [
    'forgets bytes that pause',
    forgetsBytesThatPause,
    'while it pauses its bytes count: nothing new is begun where they are enough',
  ],
  [
    'ignores notBefore',
    consuming(({ notBefore: _, ...options }) => options),
    'a record is handed out when it is due, and not before',
    'waiting records count to no limit and block no other topic, however long they wait',
  ],
  [
    'waits for notBefore in a place that others need',
    consuming(({ notBefore, ...options }) => rejecting(options, (record) => (notBefore?.(record) ?? 0) <= Date.now())),
    'those behind a waiting record of its partition wait with it',
  ],
  [
    'forgets the group',
    forgetsTheGroup,
    'what close has remembered is behind the group when the broker is opened again',
    'two processes of a group never hold one record at a time, and miss none',
  ],
  [
    'shares no group',
    consuming((options) => ({ ...options, group: `${options.group}-${++groups}` })),
    'a group goes on behind what is done',
    'two consumers of a group never hold one record at a time, and miss none',
  ],
  [
    'commits at once',
    commitsAtOnce,
    COMES_AGAIN,
    'what was rejected when its consumer was closed comes to the next one',
  ],
  [
    'calls after stop',
    consumers(() => ({ stop: () => undefined })),
    'after stop the handler is called no more, not even for what was rejected before it',
    'after stop the handler is called no more for what is rejected after it',
    'after stop nothing new is handed out: what was published, is published, or waited for room',
  ],
  [
    'closes too early',
    consumers((consumer) => ({ close: async () => void consumer.close() })),
    'Consumer.close waits for the promises still out, and remembers what they did',
  ],
  [
    'asks nobody of the unreadable',
    consuming(({ onUnreadable: _, ...options }) => options),
    'an unreadable batch is handed out with its place, codec, reason and digest, and the records behind it go on',
    NOT_COMMITTED,
  ],
  [
    'takes a rejection for an answer',
    consuming(({ onUnreadable = async () => undefined, ...options }) => ({
      ...options,
      onUnreadable: (...of) => onUnreadable(...of).catch(() => undefined),
    })),
    NOT_COMMITTED,
  ],
  [
    'owns for ever',
    consuming(({ handler, ...options }) => ({
      ...options,
      handler: (record, hold) => handler(record, { ...hold, isOwn: () => true }),
    })),
    'a hold says yes while its consumer works, and no once that is closed',
  ],
  ['owns partitions for ever', consumers(() => ({ isOwner: () => true })), OWNS],
  ['owns no partition', consumers(() => ({ isOwner: () => false })), OWNS],
  ['takes one record where it may take none', consuming((options) => ({ ...options, inFlight: 1 })), TAKES_NOTHING],
  [
    'forgets parts',
    consuming(({ handler, ...options }) => ({
      ...options,
      handler: (record, hold) => handler(record, { ...hold, isPartDone: () => false }),
    })),
    'parts of a record that are done are known when it comes again, those of others are not',
    'parts of a record that were done when its consumer was closed are known to the next one',
  ],
  [
    'remembers an offset alone',
    remembersAnOffsetAlone,
    COMES_AGAIN,
    'records done behind an unfinished one do not come again after a second close either',
  ],
];
