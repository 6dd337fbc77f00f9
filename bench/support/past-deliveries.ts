/** Writes entries of past deliveries into the log of an embedded installation whose service does not run. */
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { newDelivery } from '../../src/delivery/delivery.js';
import { logEntry, loggedAttempt } from '../../src/delivery/log/log-record.js';
import type { Settings } from '../../test/support/clients/service.js';
import {
  DELIVERED,
  failedWith,
  named,
  paymentRecord,
  received,
} from '../../test/support/generators/delivery-samples.js';
import { toLogRecord } from '../../test/support/generators/log-records.js';

const A_RECORD = 100;

export interface PastDeliveries {
  readonly accountId: number;
  readonly count: number;
  /** They are spread evenly over as many ms, up to now. */
  readonly spanMs: number;
  /** Of the n-th. */
  readonly webhookOf: (n: number) => number;
  readonly isGivenUp: (n: number) => boolean;
}

export async function writePastDeliveries({ DATA_DIR = '' }: Settings, past: PastDeliveries): Promise<void> {
  const file = new StoreFile(DATA_DIR);
  const broker = new SqliteBroker(file);
  const begin = Date.now() - past.spanMs;
  for (let first = 0; first < past.count; first += A_RECORD) {
    const deliveries = Array.from({ length: A_RECORD }, (_, n) => entryOf(first + n, begin, past));
    await broker.publish('webhooks.deliveries', [toLogRecord({ deliveries })]);
  }
  await broker.close();
  file.close();
}

function entryOf(n: number, begin: number, { accountId, count, spanMs, webhookOf, isGivenUp }: PastDeliveries) {
  const at = begin + Math.floor((n * spanMs) / count);
  const event = { id: `pay-${n}`, type: 'cash_in', accountId } as const;
  const delivery = newDelivery(event, named(webhookOf(n)), received(paymentRecord(), { offset: n, timestamp: at }));
  const failed = isGivenUp(n);
  const attempt = loggedAttempt({ ...(failed ? failedWith(503) : DELIVERED), at }, 1);
  return logEntry(delivery, failed ? 'exhausted' : 'delivered', attempt, null);
}
