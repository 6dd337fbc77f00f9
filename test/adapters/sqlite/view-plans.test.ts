import { driver } from '../../../src/adapters/sqlite/open-file.js';
import { Statements } from '../../../src/adapters/sqlite/statements.js';
import { statQueries } from '../../../src/adapters/sqlite/view/counters.js';
import { deliveryQueries } from '../../../src/adapters/sqlite/view/delivery-pages.js';
import { eventQueries } from '../../../src/adapters/sqlite/view/event-pages.js';
import { recoveryQueries } from '../../../src/adapters/sqlite/view/recovering.js';
import { VIEW_SCHEMA } from '../../../src/adapters/sqlite/view/schema.js';
import { ACCOUNT } from '../../support/generators/delivery-samples.js';
import { eventsQuery, feedQuery, query } from '../../support/scenes/deliveries-view-subject.js';

/** Notes the steps of each statement's plan. */
class Planned extends Statements {
  readonly plans: (readonly [sql: string, step: string])[] = [];

  override row<Row>(sql: string, values = {}): Row | undefined {
    this.#plan(sql, values);
    return super.row(sql, values);
  }

  override rows<Row>(sql: string, values = {}): Row[] {
    this.#plan(sql, values);
    return super.rows(sql, values);
  }

  override each<Row>(sql: string, values = {}): IterableIterator<Row> {
    this.#plan(sql, values);
    return super.each(sql, values);
  }

  #plan(sql: string, values: Readonly<Record<string, unknown>>): void {
    for (const { detail } of super.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)) {
      this.plans.push([sql, detail]);
    }
  }
}

function opened() {
  const file = new (driver())(':memory:');
  file.exec(VIEW_SCHEMA);
  return file;
}

test('no question reads a table from end to end, nor a whole index of it', () => {
  const file = opened();
  const sql = new Planned(file);
  const asking = { accountId: ACCOUNT, own: [7], completeSince: null };
  const { page, publications } = deliveryQueries(sql, asking);
  const { events, feed } = eventQueries(sql, asking);
  const { stats, attempts, dataSince, health } = statQueries(sql, ACCOUNT);
  const { recoverableCount, nextRecoverable, missedCount, nextMissed, recovery } = recoveryQueries(sql, asking);
  const some = [
    { eventId: 'a' },
    { status: '5xx' },
    { errors: ['timeout'] },
    { eventType: 'cash_in' },
    { from: 1, to: 2 },
  ] as const;
  for (const asked of [{}, { webhookId: null }, { webhookId: null, outcome: 'retrying' } as const, ...some]) {
    page(query(asked));
    page(query({ ...asked, webhookId: null }));
  }
  for (const asked of [{}, { arrived: 'part' } as const, { webhookIds: [7] }, { reference: 'r' }, ...some]) {
    events(eventsQuery(asked));
    feed(feedQuery(asked));
  }
  publications('msg_1');
  for (const eventType of [null, 'cash_in']) stats({ from: 0, to: 9, step: '1m', webhookId: null, eventType });
  dataSince();
  attempts(0);
  health();
  const period = { since: 0, until: 9 };
  const undelivered = { ...period, webhookIds: [7], include: ['exhausted', 'retrying', 'held'] as const };
  recoverableCount(undelivered);
  nextRecoverable(undelivered, 'r', null);
  const missed = { ...period, webhooks: [{ id: 7, eventType: 'cash_in' }] };
  missedCount(missed, {});
  nextMissed(missed, null);
  recovery('r');
  file.close();
  const scans = sql.plans.filter(([, step]) =>
    /^SCAN (?!blocks|steps|standing|webhook\b|routed\b|json_each|CONSTANT|\()/.test(step),
  );
  expect(scans).toEqual([]);
  expect(sql.plans.length).toBeGreaterThan(100);
});
