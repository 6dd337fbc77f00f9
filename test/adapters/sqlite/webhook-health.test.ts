import { VIEW_SCHEMA } from '../../../src/adapters/sqlite/deliveries-view-schema.js';
import { openFile, type SqliteFile } from '../../../src/adapters/sqlite/open-file.js';
import { WebhookHealths } from '../../../src/adapters/sqlite/webhook-health.js';
import { CountedReads } from '../../support/counted-reads.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const ABOUT = {
  accountId: 42,
  webhookId: 1,
  eventType: 'cash_in',
  since: 0,
  deliveries: 1,
  waiting: 0,
  held: 0,
  exhausted: 0,
};

let directory: ReturnType<typeof temporaryDirectory>;
let file: SqliteFile;
let reads: CountedReads;

beforeEach(() => {
  directory = temporaryDirectory();
  file = openFile(`${directory.path}/view.sqlite`);
  file.exec(VIEW_SCHEMA);
  reads = new CountedReads(file, (sql) => sql.includes('FROM deliveries'));
});
afterEach(() => {
  file.close();
  directory.remove();
});

it('a flaky URL, whose successes are noted after later failures, costs no reads while it is written', () => {
  const healths = new WebhookHealths(reads.file);
  const failure = (at: number) => ({ at, status: 503, error: null });
  for (let n = 0; n < 100; n += 1) {
    const at = n * 10;
    healths.add({ ...ABOUT, failures: [failure(at + 5), failure(at + 19)], successAt: at });
  }
  expect(reads.calls).toBe(0);
  // Of the failures after the last success only the newest is known here: no delivery is in the file.
  expect(healths.of(42).get(1)).toMatchObject({ lastSuccessAt: 990, failingSince: 1_009 });
  expect(reads.calls).toBe(1);
});
