/** A view that follows its topics on an embedded broker; a test may wrap it. */
import type { Delivery } from '../../../src/delivery/delivery.js';
import { logEntry, loggedAttempt } from '../../../src/delivery/log/log-record.js';
import type { Broker, NewRecord } from '../../../src/ports/broker.js';
import type {
  AskView,
  DeliveriesPage,
  DeliveriesView,
  ListPlace,
  ViewedDelivery,
} from '../../../src/ports/deliveries-view.js';
import { ViewFollower, type ViewFollowerParts } from '../../../src/read-model/view-follower.js';
import { eventually } from '../clocks/eventually.js';
import { ACCOUNT, DELIVERED, deliveryTo, failedWith, NOW } from '../generators/delivery-samples.js';
import { toLogRecord } from '../generators/log-records.js';
import { SqliteFolder } from '../servers/sqlite-folder.js';
import { query, WEBHOOK } from './deliveries-view-subject.js';
import { recordingLogger } from './recording-logger.js';
import { viewInThisThread } from './view-in-this-thread.js';
import { withMethods } from './with-methods.js';

export const TOPICS = { deliveries: 'webhooks.deliveries', requests: 'webhooks.requests' };

export class ViewFollowerFixture {
  readonly #folder = new SqliteFolder();
  readonly dataDir = this.#folder.dataDir;
  readonly #logger = recordingLogger();
  #opened = this.#folder.open();

  get broker(): Broker {
    return this.#opened.broker;
  }

  readonly open = (): Promise<DeliveriesView> => viewInThisThread(this.dataDir);

  /** For `open` of a view: a wrapper around the view on its file. */
  between(change: (view: DeliveriesView) => Partial<DeliveriesView>): () => Promise<DeliveriesView> {
    return async () => {
      const view = await this.open();
      return withMethods(view, change(view));
    };
  }

  follow(changes: Partial<ViewFollowerParts> = {}): ViewFollower {
    const own = { broker: this.broker, open: this.open, logger: this.#logger };
    const view = new ViewFollower({ ...own, topics: TOPICS, lostBefore: () => null, ...changes });
    this.#folder.onClose(() => view.close());
    view.start();
    return view;
  }

  publish(...records: readonly NewRecord[]): Promise<readonly number[]> {
    return this.broker.publish(TOPICS.deliveries, records);
  }

  request(...records: readonly NewRecord[]): Promise<readonly number[]> {
    return this.broker.publish(TOPICS.requests, records);
  }

  /** In the order of the service's stop and start: the views, then the broker with its consumers, then its file. */
  async restart(views: readonly ViewFollower[], meanwhile: () => void = () => undefined): Promise<void> {
    for (const view of views) await view.close();
    await this.#opened.broker.close();
    this.#opened.file.close();
    meanwhile();
    this.#opened = this.#folder.open();
  }

  /** The warnings, and their reasons. */
  get warnings(): unknown[][] {
    return this.#logger.warnings.map(([about, text]) => [(about as { why?: string }).why, text]);
  }

  close(): Promise<void> {
    return this.#folder.close();
  }
}

export function delivery(n: number): Delivery {
  const payment = `payment-events/0/${n}@${NOW + n}`;
  return deliveryTo(WEBHOOK, { id: `msg_${String(n).padStart(5, '0')}`, eventId: `pay-${n}`, payment });
}

export function delivered(of: Delivery): NewRecord {
  return toLogRecord({
    deliveries: [logEntry(of, 'delivered', loggedAttempt({ ...DELIVERED, at: NOW + 5_000 }, 2), null)],
  });
}

export function retrying(of: Delivery): NewRecord {
  return toLogRecord({ deliveries: [logEntry(of, 'retrying', loggedAttempt(failedWith(503), 1), NOW + 5_000)] });
}

/** The records of this many successful deliveries. */
export function many(count: number, from = 0): NewRecord[] {
  return Array.from({ length: count }, (_, n) => delivered(delivery(from + n)));
}

/** Of ACCOUNT and WEBHOOK, on all pages. */
export async function shown(view: AskView): Promise<readonly ViewedDelivery[]> {
  const all: ViewedDelivery[] = [];
  let before: ListPlace | null = null;
  do {
    const asked = query({ before });
    const page: DeliveriesPage | null = await view.ask(ACCOUNT, (sound) => sound.page(asked));
    all.push(...(page?.deliveries ?? []));
    before = page?.next ?? null;
  } while (before !== null);
  return all;
}

export function shows(view: ViewFollower, count: number): Promise<true> {
  return eventually(async () => (await shown(view)).length === count, {
    message: `the view did not come to show ${count}`,
  });
}
