/** The view of deliveries in its own file, deliveries-view.sqlite. Opening doesn't check it: too large. */
import { randomBytes } from 'node:crypto';
import type { Position, Positions } from '../../ports/broker.js';
import {
  type ReachedPositions,
  type ViewCore,
  type ViewEntry,
  type ViewedAccount,
  type ViewQueries,
  type ViewRouting,
  type ViewTopic,
  ViewUnsound,
} from '../../ports/deliveries-view.js';
import { VIEW_SCHEMA } from './deliveries-view-schema.js';
import { DeliveryCounters } from './delivery-counters.js';
import { DeliveryPages } from './delivery-pages.js';
import { DeliveryRows } from './delivery-rows.js';
import { DeliveryStats } from './delivery-stats.js';
import { type DisposableFile, type FileKind, isDamage, openDisposable, throwAway } from './disposable-file.js';
import { type Beside, type DeliveryIdOf, EventPages } from './event-pages.js';
import { MissedPayments } from './missed-payments.js';
import type { SqliteFile } from './open-file.js';
import { RecoverableDeliveries } from './recoverable-deliveries.js';
import { FORGOTTEN_AT_ONCE, HashedIds, RoutedEvents } from './routed-events.js';
import { WebhookChanges, WebhookHealths } from './webhook-health.js';

/** 16 MiB: a page that changes in most transactions is written to the file once for many of them. */
const WAL_PAGES = 4_000;
const CACHE_KIB = 64 * 1024;
/** More than the entries of a call add, nearly always. */
const MINUTES_AT_ONCE = 300;

interface PositionRow {
  readonly partition: number;
  readonly offset: number;
  readonly before_offset: number | null;
  readonly before_at: number | null;
}

/** "awdv" */
const KIND: FileKind = {
  name: 'deliveries-view',
  applicationId: 0x61776476,
  shape: 11,
  schema: VIEW_SCHEMA,
  isChecked: false,
};

/** @param onDamaged called with the name of a file that had to be deleted @throws DataDirUnusable */
export function openDeliveriesView(
  dataDir: string,
  onDamaged: (file: string) => void,
  deliveryIdOf: DeliveryIdOf,
): ViewCore {
  return openDisposable(dataDir, KIND, onDamaged, (opened) => new SqliteDeliveriesView(opened, deliveryIdOf));
}

class SqliteDeliveriesView implements ViewCore {
  readonly id: string;
  readonly #disposable: DisposableFile;
  readonly #parts: ReturnType<typeof partsOf>;
  readonly #transaction: (work: () => void) => void;

  /** Of the account that asks. */
  #webhookIds: ViewedAccount['webhookIds'] = null;

  constructor(disposable: DisposableFile, deliveryIdOf: DeliveryIdOf) {
    const { file } = disposable;
    this.#disposable = disposable;
    file.pragma(`wal_autocheckpoint = ${WAL_PAGES}`);
    file.pragma(`cache_size = -${CACHE_KIB}`);
    const isRemoved = (_: number, id: number) => this.#webhookIds?.includes(id) === false;
    this.#parts = partsOf(file, { deliveryIdOf, isRemoved });
    this.#transaction = file.transaction((work: () => void) => work());
    this.id = idOf(file);
  }

  positions(topic: ViewTopic): Positions {
    const rows = this.#sound(() => this.#parts.positions.all(topic) as PositionRow[]);
    return new Map(rows.map((row) => [row.partition, positionOf(row)]));
  }

  add(given: readonly (ViewEntry | ViewRouting)[], reached: ReachedPositions): void {
    const { events, rows, health, counters, setPosition } = this.#parts;
    this.#write(() => {
      const changes = new WebhookChanges();
      for (const entry of given) {
        if (entry.kind === 'routed') events.addRouting(entry);
        else changes.add(rows.add(entry));
      }
      changes.write(health, counters);
      counters.fold(MINUTES_AT_ONCE);
      for (const [topic, positions] of reached) {
        for (const [partition, { offset, before }] of positions) {
          setPosition.run(topic, partition, offset, before?.offset ?? null, before?.timestamp ?? null);
        }
      }
    });
  }

  of({ accountId, webhookIds }: ViewedAccount): ViewQueries {
    const { pages, eventPages, stats, health, recoverable, missed } = this.#parts;
    const asked = <T>(answer: () => T) => {
      this.#webhookIds = webhookIds;
      return this.#sound(answer);
    };
    return {
      page: (query) => asked(() => pages.page({ ...query, accountId })),
      publications: (id) => asked(() => pages.withId(accountId, id)),
      events: (query) => asked(() => eventPages.page({ ...query, accountId })),
      feed: (query) => asked(() => eventPages.feed({ ...query, accountId })),
      stats: (query) => asked(() => stats.buckets({ ...query, accountId })),
      dataSince: () => asked(() => stats.since(accountId)),
      health: () => asked(() => health.of(accountId)),
      recoverableCount: (query) => asked(() => recoverable.count({ ...query, accountId })),
      nextRecoverable: (query, recovery, after) =>
        asked(() => recoverable.next({ ...query, accountId }, recovery, after)),
      missedCount: (query) => asked(() => missed.count({ ...query, accountId })),
      nextMissed: (query, _, after) => asked(() => missed.next({ ...query, accountId }, after)),
      recovery: (recoveryId) => asked(() => recoverable.progress(accountId, recoveryId)),
    };
  }

  forget(before: number): void {
    const { events, health, counters } = this.#parts;
    this.#write(() => {
      events.forget(before, (delivery) => health.forget(delivery));
      counters.forget(before, FORGOTTEN_AT_ONCE);
    });
  }

  discard(): void {
    throwAway(this.#disposable);
  }

  close(): void {
    this.#disposable.file.close();
  }

  #write(work: () => void): void {
    this.#sound(() => {
      try {
        this.#transaction(work);
      } catch (error) {
        this.#parts.events.reload();
        this.#parts.counters.reload();
        throw error;
      }
    });
  }

  #sound<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (!isDamage(cause) && !(cause instanceof SyntaxError)) throw cause;
      throw new ViewUnsound('the deliveries view is damaged', { cause });
    }
  }
}

function partsOf(file: SqliteFile, beside: Beside) {
  const ids = new HashedIds(file);
  const events = new RoutedEvents(file, ids);
  const health = new WebhookHealths(file);
  const counters = new DeliveryCounters(file);
  return {
    ...{ events, health, counters },
    positions: file.prepare('SELECT partition, offset, before_offset, before_at FROM positions WHERE topic = ?'),
    setPosition: file.prepare(
      'INSERT OR REPLACE INTO positions (topic, partition, offset, before_offset, before_at) VALUES (?, ?, ?, ?, ?)',
    ),
    rows: new DeliveryRows(file, events, ids),
    pages: new DeliveryPages(file, health, beside.isRemoved),
    eventPages: new EventPages(file, beside),
    stats: new DeliveryStats(file, health, counters),
    recoverable: new RecoverableDeliveries(file),
    missed: new MissedPayments(file, beside.deliveryIdOf),
  };
}

function positionOf({ offset, before_offset, before_at }: PositionRow): Position {
  const before = before_offset === null || before_at === null ? null : { offset: before_offset, timestamp: before_at };
  return { offset, before };
}

function idOf(file: SqliteFile): string {
  const find = file.prepare('SELECT id FROM view').pluck();
  if (find.get() === undefined) file.prepare('INSERT INTO view (id) VALUES (?)').run(randomBytes(8).toString('hex'));
  return find.get() as string;
}
