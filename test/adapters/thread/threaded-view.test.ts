import { MessageChannel } from 'node:worker_threads';
import { openDeliveriesView as openCore, VIEW_FILE } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import { openThreadedView } from '../../../src/adapters/thread/threaded-view.js';
import { openDeliveriesView } from '../../../src/composition/api.js';
import { viewEntries } from '../../../src/delivery/log/view-entry.js';
import {
  type DeliveriesView,
  ViewEnded,
  type ViewQueries,
  type ViewRecord,
  ViewRefused,
  ViewUnsound,
} from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { eventsQuery, feedQuery, query, VIEW_SIZE } from '../../support/scenes/deliveries-view-subject.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';
import { damageFile } from '../../support/scenes/sqlite-subjects.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';
import { delivered, delivery, retrying } from '../../support/scenes/view-follower-fixture.js';
import { viewInThisThread } from '../../support/scenes/view-in-this-thread.js';
import { wholeQueries } from '../../support/scenes/whole-queries.js';

let folder: ReturnType<typeof temporaryDirectory>;
const opened: { close(): unknown }[] = [];
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(async () => {
  for (const view of opened.splice(0)) await view.close();
  folder.remove();
});

const record = (n: number, value = delivered(delivery(n)).value): ViewRecord => {
  const place = { topic: 'deliveries', partition: 0, offset: n, timestamp: NOW + n } as const;
  return { ...place, key: null, value, headers: [['name', Buffer.from('value')]] };
};
const records = (count: number, from = 0) => Array.from({ length: count }, (_, n) => record(from + n));

async function here(...parts: Parameters<typeof viewInThisThread> extends [string, ...infer Rest] ? Rest : never) {
  const view = await viewInThisThread(folder.path, ...parts);
  opened.push(view);
  return view;
}

const all = query();

async function inThread(): Promise<DeliveriesView> {
  const parts = { webhookIds: () => null, took: () => undefined };
  const view = await openDeliveriesView(
    { DATA_DIR: folder.path, DELIVERIES_VIEW_SIZE: VIEW_SIZE },
    recordingLogger(),
    parts,
  );
  opened.push(view);
  return view;
}

/** Every query, with what it is asked. */
function asked(): { readonly [Query in keyof ViewQueries]: Parameters<ViewQueries[Query]> } {
  const span = { webhookIds: [7], since: 0, until: 2 * NOW, include: ['exhausted', 'retrying', 'held'] } as const;
  const missed = { webhooks: [{ id: 8, eventType: 'cash_in' }], since: 0, until: 2 * NOW };
  const stats = { from: 0, to: 2 * NOW, step: '1h', webhookId: null, eventType: null } as const;
  return {
    page: [all],
    publications: [delivery(1).id],
    events: [eventsQuery()],
    feed: [feedQuery()],
    stats: [stats],
    attempts: [0],
    dataSince: [],
    health: [],
    recoverableCount: [span],
    nextRecoverable: [span, 'r', null],
    missedCount: [missed, {}],
    nextMissed: [missed, null],
    recovery: ['r'],
  };
}

test.each([
  ['this thread', here],
  ['a thread of its own', inThread],
])('in %s every query gives what the core gives', async (_where, open) => {
  const value = retrying({ ...delivery(7), eventId: 'ä"\\\u0000\ud800😀' }).value;
  const view = await open();
  await view.add([...records(5, 1), record(7, value)]);
  const answers = new Map<string, unknown>();
  for (const [name, given] of Object.entries(asked())) {
    const ask = view.of(ACCOUNT)[name as keyof ViewQueries] as (...args: readonly unknown[]) => Promise<unknown>;
    answers.set(name, await ask(...given));
  }
  await view.close();
  const core = openCore(folder.path, () => undefined, VIEW_SIZE);
  opened.push(core);
  const queries = wholeQueries(core, { accountId: ACCOUNT, webhookIds: null });
  for (const [name, given] of Object.entries(asked())) {
    const ask = queries[name as keyof ViewQueries] as (...args: readonly unknown[]) => unknown;
    expect([name, answers.get(name)]).toEqual([name, ask(...given)]);
  }
  expect(answers.get('page')).toHaveProperty('deliveries.length', 6);
});

describe('records', () => {
  test('are stored up to the one that can not be, each with its position', async () => {
    const view = await here({}, { entriesOf: (one) => entriesBefore(one, 20) });
    await expect(view.add(records(100))).rejects.toThrow(ViewRefused);
    const { deliveries } = await view.of(ACCOUNT).page(all);
    const next = (await view.positions('deliveries')).get(0)?.offset;
    expect(next).toBe(deliveries.length);
    expect(next).toBeGreaterThan(0);
    expect(next).toBeLessThanOrEqual(20);
  });

  test.each([0.1, 1])('of %s ms each are stored in transactions of at most 10 ms', async (eachMs) => {
    let [ms, before] = [0, 0];
    const took: number[] = [];
    const now = () => {
      took.push(ms - before);
      before = ms;
      return ms;
    };
    const entriesOf = (one: ViewRecord) => {
      ms += eachMs;
      return viewEntries(one);
    };
    const view = await here({}, { now, entriesOf });
    await view.add(records(400));
    expect(Math.max(...took)).toBeCloseTo(8);
  });

  test('wait between two transactions for the questions that came meanwhile', async () => {
    const view = await here();
    const steps: string[] = [];
    const adding = view.add(records(3_000)).then(() => steps.push('stored'));
    const asking = view.of(ACCOUNT).dataSince();
    await asking.then(() => steps.push('answered'));
    await adding;
    expect(steps).toEqual(['answered', 'stored']);
  });
});

describe('questions', () => {
  test('run one at a time for each user; those of another account come in between', async () => {
    const view = await here();
    const steps: number[] = [];
    const ask = async (accountId: number) => {
      await view.of(accountId).dataSince();
      steps.push(accountId);
    };
    await Promise.all([ask(1), ask(1), ask(1), ask(2)]);
    expect(steps).toEqual([1, 2, 1, 1]);
  });

  test('yield after each slice to those of other accounts, and continue after them', async () => {
    let ms = 0;
    // Each look at the clock comes 5 ms later, so a slice has few steps.
    const view = await here({}, { now: () => (ms += 5) });
    const count = 5_000;
    await view.add(Array.from({ length: count }, (_, n) => record(n, routed(n))));
    const answers: (string | number)[] = [];
    const span = { since: 0, until: 2 * NOW };
    const counting = view.of(ACCOUNT).missedCount({ ...span, webhooks: [{ id: 8, eventType: 'cash_in' }] }, {});
    const counted = counting.then((found) => answers.push(found.count));
    for (const accountId of [43, 44, 43]) {
      await view.of(accountId).events(eventsQuery());
      answers.push(`account ${accountId}`);
    }
    await counted;
    expect(answers).toEqual(['account 43', 'account 44', 'account 43', count]);
  });

  test('yield after each slice to another user of the same account, who waits for no other count', async () => {
    let ms = 0;
    const view = await here({}, { now: () => (ms += 5) });
    await view.add(Array.from({ length: 5_000 }, (_, n) => record(n, routed(n))));
    const answered: string[] = [];
    const missed = { since: 0, until: 2 * NOW, webhooks: [{ id: 8, eventType: 'cash_in' }] };
    const counting = Array.from({ length: 3 }, () => view.of(ACCOUNT, 'ana').missedCount(missed, {}));
    const counted = counting.map((count) => count.then(() => answered.push('ana')));
    for (const _ of [1, 2]) await view.of(ACCOUNT, 'ben').health();
    answered.push('ben');
    await Promise.all(counted);
    expect(answered).toEqual(['ben', 'ana', 'ana', 'ana']);
  });

  test('take no more of the thread for 20 users of an account than for one', async () => {
    let ms = 0;
    const view = await here({}, { now: () => (ms += 5) });
    await view.add(Array.from({ length: 3_000 }, (_, n) => record(n, routed(n))));
    const missed = { since: 0, until: 2 * NOW, webhooks: [{ id: 8, eventType: 'cash_in' }] };
    const sliced = async (users: readonly string[]) => {
      const counting = users.map((user) => view.of(ACCOUNT, user).missedCount(missed, {}));
      const begun = ms;
      await view.of(43).events(eventsQuery());
      const took = ms - begun;
      await Promise.all(counting);
      return took;
    };
    const alongsideOne = await sliced(['ana']);
    expect(await sliced(Array.from({ length: 20 }, (_, n) => `user-${n}`))).toBeLessThanOrEqual(2 * alongsideOne);
  });

  test('are charged to their user for the time of all of their slices, and to no one else', async () => {
    const charged = new Map<string, number>();
    const took = (accountId: number, user: string, ms: number) => {
      const by = `${accountId} ${user}`;
      charged.set(by, (charged.get(by) ?? 0) + ms);
    };
    let clock = 0;
    const view = await here({ took }, { now: () => (clock += 10) });
    await view.add(Array.from({ length: 3_000 }, (_, n) => record(n, routed(n))));
    const missed = { since: 0, until: 2 * NOW, webhooks: [{ id: 8, eventType: 'cash_in' }] };
    await Promise.all([view.of(ACCOUNT, 'ana').missedCount(missed, {}), view.of(43).dataSince()]);
    expect(charged.get('43 ')).toBeLessThan(100);
    expect(charged.get(`${ACCOUNT} ana`)).toBeGreaterThan(60);
  });

  test('bring the webhooks that their account has: what waits for another one is cancelled', async () => {
    const view = await here({ webhookIds: (accountId) => (accountId === ACCOUNT ? [8] : null) });
    await view.add([record(1, retrying(delivery(1)).value)]);
    const { deliveries } = await view.of(ACCOUNT).page(all);
    expect(deliveries).toMatchObject([{ outcome: 'cancelled', endedBy: 'webhook-removed' }]);
  });
});

describe('an end', () => {
  test('of a damaged file is ViewUnsound; once it is discarded the next view is another one', async () => {
    const view = await inThread();
    await view.add(records(5_000));
    await view.close();
    const again = await inThread();
    damageFile(`${folder.path}/${VIEW_FILE}`);
    const asking = async () => {
      await again.of(ACCOUNT).page({ ...all, limit: 5_000 });
      await again.of(ACCOUNT).events(eventsQuery({ limit: 5_000 }));
    };
    await expect(asking()).rejects.toThrow(ViewUnsound);
    await again.discard();
    expect((await inThread()).id).not.toBe(again.id);
  });

  test('of the thread is ViewEnded for what is under way and what is asked later', async () => {
    const { port1, port2 } = new MessageChannel();
    const opening = openThreadedView(port1, {
      webhookIds: () => null,
      took: () => undefined,
      onDamaged: () => undefined,
    });
    port2.close();
    await expect(opening).rejects.toThrow(ViewEnded);
  });
});

/** A payment that was routed to nobody. */
function routed(n: number): Buffer {
  const { eventId, accountId } = delivery(n);
  const payment = `payment-events/0/${n}@${NOW + n}`;
  const entry = { payment, accountId, eventId, eventType: 'cash_in', routed: 1, confirmed: 1, webhooks: [] };
  return Buffer.from(JSON.stringify({ store: 'store', routed: [entry] }));
}

/** What the view can't store, from an offset on. */
function entriesBefore(one: ViewRecord, offset: number) {
  const unstorable = (entry: ReturnType<typeof viewEntries>[number]) => ({
    ...entry,
    eventType: Symbol('none') as never,
  });
  return one.offset < offset ? viewEntries(one) : viewEntries(one).map(unstorable);
}
