import { driver, type SqliteFile } from '../../../src/adapters/sqlite/open-file.js';
import { Statements } from '../../../src/adapters/sqlite/statements.js';
import { statQueries } from '../../../src/adapters/sqlite/view/counters.js';
import { STATE } from '../../../src/adapters/sqlite/view/delivery-row.js';
import { VIEW_SCHEMA } from '../../../src/adapters/sqlite/view/schema.js';
import { STATS_STEPS_MS, type StatsQuery, type Steps } from '../../../src/ports/deliveries-view.js';

const [ACCOUNT, OTHER] = [42, 43];
/** Most are removed: an account has 20 at a time. */
const WEBHOOKS = 3_000;
const LAST = WEBHOOKS - 1;
const PAGE = 500;

const { retrying: FAILED, exhausted: EXHAUSTED, removed: REMOVED } = STATE;
const SUCCEEDED = 20;
const KINDS = [FAILED, EXHAUSTED, SUCCEEDED];
const STEP = STATS_STEPS_MS['1h'];
const AT = 100 * STEP;

let file: SqliteFile;
beforeAll(() => {
  file = new (driver())(':memory:');
  file.exec(VIEW_SCHEMA);
  const add = file.prepare('INSERT INTO counters VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const countAt = (accountId: number, webhookId: number, kind: number, counts: readonly number[]) => {
    for (const [partition, n] of counts.entries()) {
      for (const step of Object.values(STATS_STEPS_MS))
        add.run(step, AT, accountId, webhookId, kind, partition, null, n);
    }
  };
  file.transaction(() => {
    for (let webhookId = 0; webhookId < WEBHOOKS; webhookId += 1) {
      for (const kind of KINDS) countAt(ACCOUNT, webhookId, kind, [1, 2, 3]);
      // Parts of one sum, which comes to 0.
      countAt(ACCOUNT, webhookId, REMOVED, [5, -5, 0]);
      countAt(OTHER, webhookId, REMOVED, [5, -5, 0]);
      add.run(0, 0, ACCOUNT, webhookId, EXHAUSTED, 0, webhookId % 3 === 0 ? 'cash_out' : 'cash_in', 1);
    }
    countAt(OTHER, LAST, SUCCEEDED, [0, 0, 1]);
  })();
});
afterAll(() => void file.close());

/** Runs a query to its end. @returns its result, and in how many steps it ran */
function run<T>(query: (queries: ReturnType<typeof statQueries>) => Steps<T>, accountId = ACCOUNT) {
  const all = query(statQueries(new Statements(file), accountId));
  for (let steps = 1; ; steps += 1) {
    const { done, value } = all.next();
    if (done) return { value, steps };
  }
}

const hour = (changes: Partial<StatsQuery> = {}): StatsQuery => {
  return { from: AT, to: AT + STEP, step: '1h', webhookId: null, eventType: null, ...changes };
};
const PAGES = Math.floor((WEBHOOKS * (KINDS.length + 1)) / PAGE);
const SUM = 1 + 2 + 3;

describe('counters of an account with thousands of webhooks in one step of time', () => {
  test('are summed over all pages, with a yield after each', () => {
    const { value, steps } = run((queries) => queries.stats(hour()));
    const all = WEBHOOKS * SUM;
    expect(value).toMatchObject([{ at: AT, delivered: all, failedAttempts: all, exhausted: all, cancelled: 0 }]);
    expect(steps).toBeGreaterThan(PAGES);
  });

  test('are searched for the one webhook that a query names', () => {
    const { value, steps } = run((queries) => queries.stats(hour({ webhookId: LAST })));
    expect(value).toMatchObject([{ delivered: SUM, failedAttempts: SUM, exhausted: SUM, cancelled: 0 }]);
    expect(steps).toBe(2);
  });

  test('are narrowed by event type, page by page', () => {
    const { value, steps } = run((queries) => queries.stats(hour({ eventType: 'cash_out' })));
    expect(value).toMatchObject([{ delivered: 1_000 * SUM, failedAttempts: 1_000 * SUM }]);
    // The types of webhooks are read first, 100 per step.
    expect(steps).toBeGreaterThan(WEBHOOKS / 100 + PAGES);
    const none = run((queries) => queries.stats(hour({ eventType: 'cash_out', webhookId: LAST })));
    expect(none.value).toEqual([]);
  });

  test('have the attempts of each webhook, page by page', () => {
    const { value, steps } = run((queries) => queries.attempts(AT));
    expect(value).toEqual(
      Array.from({ length: WEBHOOKS }, (_, webhookId) => ({ at: AT, webhookId, made: 2 * SUM, failed: SUM })),
    );
    expect(steps).toBeGreaterThan(PAGES);
  });

  test('give dataSince the first step that has a sum other than 0, on any page', () => {
    const { value, steps } = run((queries) => queries.dataSince(), OTHER);
    expect(value).toBe(AT);
    expect(steps).toBeGreaterThan(WEBHOOKS / PAGE);
    expect(run((queries) => queries.dataSince()).steps).toBe(1);
  });
});
