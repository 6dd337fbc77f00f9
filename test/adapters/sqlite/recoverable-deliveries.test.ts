import { openDeliveriesView } from '../../../src/adapters/sqlite/deliveries-view.js';
import { VIEW_SCHEMA } from '../../../src/adapters/sqlite/deliveries-view-schema.js';
import { openFile, type SqliteFile } from '../../../src/adapters/sqlite/open-file.js';
import { RecoverableDeliveries } from '../../../src/adapters/sqlite/recoverable-deliveries.js';
import { webhookMessageId } from '../../../src/delivery/delivery.js';
import type { DeliveryPlace, RecoverableQuery } from '../../../src/ports/deliveries-view.js';
import { CountedReads } from '../../support/counted-reads.js';
import { entries, WEBHOOK } from '../../support/deliveries-view-subject.js';
import { ACCOUNT, NOW } from '../../support/delivery-samples.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { withMethods } from '../../support/with-methods.js';

const COUNT = 20_000;
const QUERY: RecoverableQuery = {
  ...{ accountId: ACCOUNT, webhookIds: [WEBHOOK], since: NOW, until: NOW + COUNT },
  include: ['exhausted', 'retrying', 'held'],
};

let directory: ReturnType<typeof temporaryDirectory>;
let file: SqliteFile;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => {
  file.close();
  directory.remove();
});

test('the next recoverable delivery is found in one range of an index that begins at the cursor', () => {
  file = openFile(`${directory.path}/view.sqlite`);
  file.exec(VIEW_SCHEMA);
  const texts: string[] = [];
  const prepare = (sql: string) => {
    texts.push(sql);
    return file.prepare(sql);
  };
  new RecoverableDeliveries(withMethods(file, { prepare: prepare as SqliteFile['prepare'] }));
  const next = texts.find((sql) => sql.includes('ORDER BY')) ?? '';
  const plan = file.prepare(`EXPLAIN QUERY PLAN ${next}`).all(...Array(10).fill(1)) as { detail: string }[];
  expect(plan.map(({ detail }) => detail)).toEqual([
    expect.stringMatching(
      /USING INDEX by_state \(account_id=\? AND webhook_id=\? AND state=\? AND \(first_at,id\)>\(\?,\?\)/,
    ),
    expect.stringContaining('SEARCH events USING INTEGER PRIMARY KEY'),
    expect.stringContaining('FOR LAST TERM OF ORDER BY'),
  ]);
  const progress = texts.find((sql) => sql.includes('FILTER')) ?? '';
  const counted = file.prepare(`EXPLAIN QUERY PLAN ${progress}`).all(1, 1) as { detail: string }[];
  expect(counted.map(({ detail }) => detail)).toEqual([expect.stringContaining('SEARCH recovered USING PRIMARY KEY')]);
});

test('a recovery of 20,000 reads each delivery of a kind once or twice, also those that it requested', () => {
  const view = openDeliveriesView(directory.path, () => undefined, webhookMessageId);
  const exhausted = entries(COUNT, { outcome: 'exhausted', attempt: null });
  const asked = { outcome: 'retrying', chain: 1, attempts: 0, recovery: 'r' } as const;
  view.add([...exhausted, ...exhausted.slice(0, COUNT / 2).map((one) => ({ ...one, ...asked }))], new Map());
  view.close();
  file = openFile(`${directory.path}/deliveries-view.sqlite`);
  const reads = new CountedReads(file, (sql) => sql.includes('ORDER BY'));
  const recoverable = new RecoverableDeliveries(reads.file);
  let [found, calls] = [0, 0];
  for (let after: DeliveryPlace | null = null; ; calls += 1) {
    const { delivery, reached } = recoverable.next(QUERY, 'r', after);
    if (!reached) break;
    found += delivery ? 1 : 0;
    after = reached;
  }
  expect([found, calls]).toEqual([COUNT / 2, COUNT / 2 + COUNT / 200]);
  expect(reads.rows).toBeLessThan(2 * COUNT);
});
