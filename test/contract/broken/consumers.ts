/** Brokers that each violate one sentence of the contract, and the cases that must see it: how records are handed out. */
import type { AcceptedRecord, Broker, ConsumeOptions, Consumer, RecordHandler } from '../../../src/ports/broker.js';
import { withMethods } from '../../support/scenes/with-methods.js';
import { KEEPS, OWNS, TAKES_NOTHING } from '../broker/holding.js';
import { ACCEPTS_ONCE } from '../broker/rejecting.js';
import { LETS_USUAL, TAKES_TURNS } from '../broker/turns.js';
import type { Breaking as BreakingOf, Broken } from './event-stores.js';

type Breaking = BreakingOf<Broker>;

/** Only the options of `consume` are others. */
function consuming(change: (options: ConsumeOptions) => ConsumeOptions): Breaking {
  return (inner) => ({ consume: (options) => inner.consume(change(options)) });
}

/** Only what is done with a record is something else. */
function accepting(change: (accepted: AcceptedRecord) => AcceptedRecord): Breaking {
  return consuming(({ accept, ...options }) => ({ ...options, accept: (record) => change(accept(record)) }));
}

function handling(change: (handle: RecordHandler) => RecordHandler): Breaking {
  return accepting(({ handle, ...accepted }) => ({ ...accepted, handle: change(handle) }));
}

type MayBegin = NonNullable<ConsumeOptions['mayBegin']>;

/** Only what `mayBegin` is asked is something else. */
function asking(ask: (mayBegin: MayBegin, isUsual: boolean) => boolean): Breaking {
  return consuming(({ mayBegin, ...options }) => ({
    ...options,
    ...(mayBegin && { mayBegin: (isUsual: boolean) => ask(mayBegin, isUsual) }),
  }));
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

/** The call with a rejected record ends with the broker. */
const keepsTheRejected: Breaking = (inner) => {
  const closing = new AbortController();
  const closed = new Promise((resolve) => closing.signal.addEventListener('abort', resolve));
  const kept = (error: unknown) => closed.then(() => Promise.reject(error));
  return {
    ...handling(
      (handle) =>
        (...of) =>
          handle(...of).catch(kept),
    )(inner),
    close() {
      closing.abort();
      return inner.close();
    },
  };
};

const COMES_AGAIN = 'an unfinished record comes again after close, and records done before and behind it do not';
const MAY_BEGIN = 'while mayBegin says no, no further record is begun; then the others are, in order';
const NOT_COMMITTED = 'a batch whose promise was rejected is handed out again, and is not committed before';

export const BROKEN_CONSUMERS: readonly Broken<Broker>[] = [
  [
    'skips the rejected',
    handling(
      (handle) =>
        (...of) =>
          handle(...of).catch(() => undefined),
    ),
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
  ['ignores mayBegin', consuming(({ mayBegin: _, ...options }) => options), MAY_BEGIN],
  ['lets no key take turns', consuming(({ turnsByKey: _, ...options }) => options), TAKES_TURNS, LETS_USUAL],
  ['takes no key for usual', asking((mayBegin, isUsual) => !isUsual && mayBegin(false)), LETS_USUAL],
  ['takes each key for usual', asking((mayBegin) => mayBegin(true)), LETS_USUAL],
  [
    'ignores notBefore',
    accepting(({ handle }) => ({ handle })),
    'a record is handed out when it is due, and not before',
    'waiting records count to no limit and block no other topic, however long they wait',
  ],
  [
    'forgets the group',
    forgetsTheGroup,
    'what close has remembered is behind the group when the broker is opened again',
  ],
  [
    'calls after stop',
    consumers(() => ({ stop: () => undefined })),
    'after stop the handler is called no more, not even for what was rejected before it',
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
    'owns for ever',
    handling((handle) => (record, hold) => handle(record, { ...hold, isOwn: () => true })),
    'a hold says yes while its consumer works, and no once that is closed',
  ],
  ['owns partitions for ever', consumers(() => ({ isOwner: () => true })), OWNS],
  ['takes one record where it may take none', consuming((options) => ({ ...options, inFlight: 1 })), TAKES_NOTHING],
  [
    'forgets parts',
    handling((handle) => (record, hold) => handle(record, { ...hold, isPartDone: () => false })),
    'parts of a record that are done are known when it comes again, those of others are not',
    'parts of a record that were done when its consumer was closed are known to the next one',
  ],
  [
    'keeps the former content',
    handling(
      (handle) => (record, hold) =>
        handle(record, {
          isOwn: () => hold.isOwn(),
          partDone: (part) => hold.partDone(part),
          isPartDone: (part) => hold.isPartDone(part),
          keep: () => undefined,
        }),
    ),
    KEEPS,
  ],
  [
    'accepts a record each time it is handed out',
    consuming(({ accept, ...options }) => ({
      ...options,
      accept: (accepted) => ({ ...accept(accepted), handle: (record, hold) => accept(record).handle(record, hold) }),
    })),
    ACCEPTS_ONCE,
  ],
];
