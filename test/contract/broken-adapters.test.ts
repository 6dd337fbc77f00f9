/** A suite that no adapter can fail proves nothing: here each sentence is broken once, and the suite must see it. */
import { describe, expect, test } from '@jest/globals';
import type { Broker } from '../../src/ports/broker.js';
import type { EventStore } from '../../src/ports/event-store.js';
import * as brokers from '../support/broken-brokers.js';
import * as stores from '../support/broken-event-stores.js';
import { SQLITE, sqliteBroker, sqliteEventStore, type Wrap } from '../support/sqlite-subjects.js';
import { cases as brokerCases } from './broker-contract.js';
import { type ContractCase, type Features, lackOf, type Open, runCase, type Subject, within } from './contract.js';
import { cases as eventStoreCases } from './event-store-contract.js';

/** Time is not to be stalled where cases run beside one another. */
const WHOLE: Features = { ...SQLITE, stall: false };
/** What is broken is waited for in vain. */
const BROKEN: Features = { ...WHOLE, patienceMs: 750, isPatient: false };
const AT_ONCE = 4;
const LIMIT_MS = 10_000;

type Cases<Port> = readonly ContractCase<Subject<Port>>[];

/** The cases that fail, and how; one that hangs has failed. */
async function failing<Port>(open: Open<Port>, features: Features, cases: Cases<Port>): Promise<string[]> {
  const failed: string[] = [];
  const limited = { features: { ...features, patienceMs: LIMIT_MS } };
  const waiting = [...cases];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { name } = next;
      const running = within(limited, 'it hangs', runCase(open, features, next));
      await running.catch((error: unknown) => failed.push(`${name}: ${error}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

function named<Port>(cases: Cases<Port>, names: readonly string[]): Cases<Port> {
  return names.map((name) => {
    const found = cases.find((one) => one.name === name);
    if (!found) throw new Error(`no case is called: ${name}`);
    return found;
  });
}

async function expectFound<Port>(open: Open<Port>, cases: Cases<Port>, names: readonly string[]): Promise<void> {
  const failed = await failing(open, BROKEN, named(cases, names));
  expect(failed).toHaveLength(names.length);
}

type Broken<Port> = new (inner: Port) => Port;
type Row<Port> = readonly [broken: Broken<Port>, ...caughtBy: string[]];

const BROKEN_STORES: readonly Row<EventStore>[] = [
  [stores.LosesAppends, 'append stores its events in order, revisions counted from 0 over all appends'],
  [stores.ResolvesBeforeStored, 'append gives back the revision and the position of its last event'],
  [
    stores.AppendsInParts,
    'append that is rejected stores none of its events',
    'append is atomic: a reader sees all of its events or none',
  ],
  [
    stores.ForgetsExpectedRevision,
    'append expecting an earlier revision rejects with WrongExpectedRevision and stores nothing',
    'of appends at once with one expected revision exactly one is stored',
  ],
  [
    stores.NotIdempotent,
    'append repeated with the same ids gives back the first result and stores nothing more',
    'an append that others have followed is repeated with its first result too',
    'the same append twice at once is stored once, and both have its result',
  ],
  [stores.DuplicatesPositions, 'every event has a position of its own'],
  [
    stores.SubscribesInWrongOrder,
    'subscribe gives the events of all streams with the prefix once each, as they were appended',
  ],
  [stores.GivesEventsTwice, '5,000 events, and those appended meanwhile, come exactly once and in order'],
  [stores.SkipsEvents, '5,000 events, and those appended meanwhile, come exactly once and in order'],
  [
    stores.MarksTooEarly,
    'the caught-up mark comes after all of 1 events that were stored',
    'the caught-up mark comes after all of 2500 events that were stored',
  ],
  [stores.NeverMarksWhatIsEmpty, 'the caught-up mark comes for an empty store'],
  [
    stores.ForgetsAfter,
    'subscribe after a position gives what comes after it, also from within an append',
    'subscribe after "not a position", never given, rejects with UnknownPosition',
  ],
  [stores.ForgetsPrefix, 'subscribe gives no event of a stream that does not begin with the prefix'],
  [stores.EndsWithError, 'a subscription that waits ends without error when its signal aborts'],
  [stores.SubscriptionsOutliveClose, 'close ends every subscription, those that wait and those that catch up'],
];

const BROKEN_BROKERS: readonly Row<Broker>[] = [
  [
    brokers.DropsTheLastRecord,
    'what publish resolved for is in the topic at once',
    'what publish resolved for is there when the broker is opened again',
  ],
  [
    brokers.ResolvesBeforeDurable,
    'what publish resolved for is in the topic at once',
    'what publish resolved for is seen by another process at once',
  ],
  [brokers.PublishesInWrongOrder, 'records of one call keep their order within a partition'],
  [brokers.KeepsOneHeaderOfAName, 'a header name twice comes back as it was published, by browse and by consume'],
  [brokers.TakesBytesForText, 'a value with every byte comes back as it was published, by browse and by consume'],
  [brokers.MakesNullEmpty, 'a null key comes back as it was published, by browse and by consume'],
  [
    brokers.SkipsTheRejected,
    'a record that was rejected comes again until it is not, and others go on meanwhile',
    'only the contiguous done prefix is remembered: what is behind a gap comes again',
  ],
  [
    brokers.RejectedKeepTheirPlace,
    'with 1 in flight, 1 that pause stop no others',
    'while it pauses it counts to no limit',
    'the pause begins with 0.1 s and grows',
  ],
  [
    brokers.IgnoresTheLimit,
    'of one partition 4 of 4 in flight are unsettled, never more',
    'the limit in flight holds over all topics together',
  ],
  [
    brokers.IgnoresBytes,
    'with 2,001 bytes in flight 3 records of 1,000 bytes are unsettled, never more',
    'one record always goes, however long it is and few bytes may be in flight',
  ],
  [brokers.IgnoresMayBegin, 'while mayBegin says no, no further record is begun; then the others are, in order'],
  [brokers.TakesNoForAnAnswer, 'while mayBegin says no, no further record is begun; then the others are, in order'],
  [brokers.HoldsTheRejectedToo, 'a rejected record comes again while mayBegin says no'],
  [brokers.ForgetsBytesThatPause, 'while it pauses its bytes count: nothing new is begun where they are enough'],
  [
    brokers.IgnoresNotBefore,
    'a record is handed out when it is due, and not before',
    'waiting records count to no limit and block no other topic, however long they wait',
  ],
  [brokers.WaitsInItsPlace, 'those behind a waiting record of its partition wait with it'],
  [
    brokers.ForgetsTheGroup,
    'what close has remembered is behind the group when the broker is opened again',
    'two processes of a group never hold one record at a time, and miss none',
  ],
  [
    brokers.SharesNoGroup,
    'a group goes on behind what is done',
    'two consumers of a group never hold one record at a time, and miss none',
  ],
  [
    brokers.RemembersBeforeDone,
    'only the contiguous done prefix is remembered: what is behind a gap comes again',
    'what was rejected when its consumer was closed comes to the next one',
  ],
  [
    brokers.CallsAfterStop,
    'after stop the handler is called no more, not even for what was rejected before it',
    'after stop the handler is called no more for what is rejected after it',
    'after stop nothing new is handed out: what was published, is published, or waited for room',
  ],
  [brokers.ClosesTooEarly, 'Consumer.close waits for the promises still out, and remembers what they did'],
  [
    brokers.PassesTheUnreadable,
    'behind what can not be read nothing is begun until its promise is fulfilled',
    'without somebody to ask the partition stands there',
  ],
  [
    brokers.AsksNobody,
    'what can not be read is told with its place, its codec, why, and a digest',
    'what was passed is done: a group goes on behind it',
  ],
  [brokers.AsksOnce, 'where its promise is rejected it is asked about again, and others go on'],
  [brokers.KeepsItsStandstillsToItself, 'browse steps over what can not be read, and tells of it'],
  [brokers.BrowsesAllOfIt, 'browse of a range gives that of its partition, and no other'],
  [
    brokers.FollowsNothing,
    'browse that follows gives what is published later, and ends without an error when it aborts',
  ],
  [brokers.BrowsesOnAndOn, 'browse gives the topic as it stood when the first record was asked for'],
];

function wrapped<Port>(make: (wrap: Wrap<Port>) => Open<Port>, Broken: Broken<Port>): Open<Port> {
  return make((port) => new Broken(port));
}

const rows = <Port>(of: readonly Row<Port>[]) => of.map(([broken, ...names]) => [broken.name, broken, names] as const);

describe('an event store that', () => {
  test('is not broken fails no case', async () => {
    expect(await failing(sqliteEventStore(), WHOLE, runnable(eventStoreCases))).toEqual([]);
  });

  test.each(rows(BROKEN_STORES))('%s is found', async (_, broken, names) => {
    await expectFound(wrapped(sqliteEventStore, broken), eventStoreCases, names);
  });
});

describe('a broker that', () => {
  test('is not broken fails no case', async () => {
    expect(await failing(sqliteBroker(), WHOLE, runnable(brokerCases))).toEqual([]);
  });

  test.each(rows(BROKEN_BROKERS))('%s is found', async (_, broken, names) => {
    await expectFound(wrapped(sqliteBroker, broken), brokerCases, names);
  });
});

function runnable<Port>(cases: Cases<Port>): Cases<Port> {
  return cases.filter((one) => !lackOf(one, WHOLE));
}
