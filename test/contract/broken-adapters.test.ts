/** A suite that no adapter can fail proves nothing: here each sentence is broken once, and the suite must see it. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Broker } from '../../src/ports/broker.js';
import type { EventStore } from '../../src/ports/event-store.js';
import * as brokers from '../support/broken-brokers.js';
import * as stores from '../support/broken-event-stores.js';
import { SQLITE, sqliteBroker, sqliteEventStore, type Wrap } from '../support/sqlite-subjects.js';
import { cases as brokerCases } from './broker-contract.js';
import { type ContractCase, type Features, lackOf, type Open, runCase, type Subject, within } from './contract.js';
import { CATCHES_UP } from './event-store/subscribing.js';
import { cases as eventStoreCases } from './event-store-contract.js';

/** What is broken is waited for in vain. */
const BROKEN: Features = { ...SQLITE, patienceMs: 750, isPatient: false };
/** They mostly wait. */
const AT_ONCE = 8;
const LIMIT_MS = 10_000;

type Cases<Port> = readonly ContractCase<Subject<Port>>[];

/** A case, and what it runs on. */
interface Trial<Port> {
  readonly open: Open<Port>;
  readonly one: ContractCase<Subject<Port>>;
}

/** The trials that fail, and how; one that hangs has failed. */
async function failing<Port>(trials: readonly Trial<Port>[], features: Features) {
  const failed = new Map<Trial<Port>, string>();
  const limited = { features: { ...features, patienceMs: LIMIT_MS } };
  const waiting = [...trials];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const trial = next;
      const running = within(limited, 'it hangs', runCase(trial.open, features, trial.one));
      await running.catch((error: unknown) => failed.set(trial, `${trial.one.name}: ${error}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

function named<Port>(cases: Cases<Port>, name: string): ContractCase<Subject<Port>> {
  const found = cases.find((one) => one.name === name);
  if (!found) throw new Error(`no case is called: ${name}`);
  return found;
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
  [stores.EndsWithAnyEvent, 'endsWith tells whether the event is the last one of its stream'],
  [stores.GivesDataAsItStands, 'data and metadata that are no object are NO_OBJECT, by read and by subscribe'],
  [stores.DuplicatesPositions, 'every event has a position of its own'],
  [
    stores.SubscribesInWrongOrder,
    'subscribe gives the events of all streams with the prefix once each, as they were appended',
  ],
  [stores.GivesEventsTwice, CATCHES_UP],
  [stores.SkipsEvents, CATCHES_UP],
  [
    stores.MarksTooEarly,
    'the caught-up mark comes after all of 1 events that were stored',
    'the caught-up mark comes after all of 2500 events that were stored',
  ],
  [stores.NeverMarksWhatIsEmpty, 'the caught-up mark comes for an empty store'],
  [
    stores.ForgetsAfter,
    'subscribe after a position gives what comes after it, also from within an append',
    'subscribe after "not a position", never given, rejects with OtherHistory',
  ],
  [stores.HeadsAreOld, 'head is at or after every event that was acknowledged before it was asked for'],
  [stores.NeverPassesForeignEvents, 'a subscription passes every head, also where the last event is of another stream'],
  [stores.TakesAnyPosition, 'subscribe after "not a position", never given, rejects with OtherHistory'],
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
  [brokers.ReadsTheFirstOfTheBatch, 'read gives each record by its place, wherever it is in its batch'],
  [brokers.ReadsTheLastThereIs, 'read is null behind the end, and in a partition or topic that does not exist'],
  [
    brokers.SkipsTheRejected,
    'a record that was rejected comes again until it is not, and others go on meanwhile',
    'an unfinished record comes again after close, and records done before and behind it do not',
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
    'with 2,007 bytes in flight 3 records of 1,003 bytes are unsettled, never more',
    'one record always goes, however long it is and few bytes may be in flight',
  ],
  [
    brokers.ForgetsToSubscribe,
    'a consumer subscribes to a topic while it runs: it gets its records from the oldest on',
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
    brokers.AnnouncesNoStart,
    'a start is announced before anything is handed out or committed, and only to a new group',
  ],
  [
    brokers.WaitsForNoAnnouncement,
    'a start is announced before anything is handed out or committed, and only to a new group',
  ],
  [brokers.CommitsOnlyWhatIsDone, 'a new group commits where it starts, before any record is done'],
  [
    brokers.SharesNoGroup,
    'a group goes on behind what is done',
    'two consumers of a group never hold one record at a time, and miss none',
  ],
  [
    brokers.RemembersBeforeDone,
    'an unfinished record comes again after close, and records done before and behind it do not',
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
    brokers.AsksNobody,
    'an unreadable batch is handed out with its place, codec, reason and digest, and the records behind it go on',
    'a batch whose promise was rejected is handed out again, and is not committed before',
    'after 20 unreadable batches in a row a partition pauses, and says so; another one does not',
  ],
  [brokers.AsksOnce, 'a batch whose promise was rejected is handed out again, and is not committed before'],
  [brokers.OwnsForEver, 'a hold says yes while its consumer works, and no once that is closed'],
  [
    brokers.ForgetsParts,
    'parts of a record that are done are known when it comes again, those of others are not',
    'parts of a record that were done when its consumer was closed are known to the next one',
  ],
  [
    brokers.RemembersAnOffsetAlone,
    'an unfinished record comes again after close, and records done before and behind it do not',
    'records done behind an unfinished one do not come again after a second close either',
  ],
  [brokers.StopsFollowing, 'follow gives every record in order, and what is published later, and ends where it aborts'],
  [brokers.FollowsFromTheOldest, 'follow goes on at the positions of a reader, and gives it nothing twice'],
  [brokers.FollowsAllPartitions, 'follow of some partitions gives those, and no other'],
  [
    brokers.FollowsAnotherTopic,
    'where another record is before the position, or the topic is shorter, it was recreated',
  ],
  [brokers.LeavesOutTheUnreadable, 'follow gives an unreadable batch in its place, and goes on behind it'],
  [brokers.SaysNothingOfTheEmpty, 'extent tells where a topic begins and ends, of partitions that hold nothing too'],
  [brokers.EndsWithItsLastRecord, 'extent tells where a topic begins and ends, of partitions that hold nothing too'],
];

/** A sound adapter by its sentences, and what breaks it. */
interface Suite<Port> {
  readonly cases: Cases<Port>;
  readonly make: (wrap?: Wrap<Port>) => Open<Port>;
  readonly broken: readonly Row<Port>[];
}

function testSuite<Port>({ cases, make, broken }: Suite<Port>): void {
  const trials = broken.flatMap(([Broken, ...names]) => {
    const open = make((port) => new Broken(port));
    return names.map((name) => ({ of: Broken.name, open, one: named(cases, name) }));
  });
  let failed: ReadonlyMap<Trial<Port>, string>;
  beforeAll(async () => {
    failed = await failing(trials, BROKEN);
  });

  test('is not broken fails no case', async () => {
    const open = make();
    const whole = cases.filter((one) => !lackOf(one, SQLITE)).map((one) => ({ open, one }));
    expect([...(await failing(whole, SQLITE)).values()]).toEqual([]);
  });

  test.each(broken.map(([{ name }]) => name))('%s is found', (name) => {
    const passed = trials.filter((trial) => trial.of === name && !failed.has(trial));
    expect(passed.map(({ one }) => one.name)).toEqual([]);
  });
}

describe('an event store that', () => {
  testSuite({ cases: eventStoreCases, make: sqliteEventStore, broken: BROKEN_STORES });
});

describe('a broker that', () => {
  testSuite({ cases: brokerCases, make: sqliteBroker, broken: BROKEN_BROKERS });
});
