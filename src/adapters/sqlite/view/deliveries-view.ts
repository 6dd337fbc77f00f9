/**
 * The view of deliveries in its own file. Opening doesn't check it: too large. The file's name has the version of its tables:
 * another one is filled from the topics.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { Position, Positions } from '../../../ports/broker.js';
import {
  type ReachedPositions,
  type ViewCore,
  type ViewEntry,
  type ViewedAccount,
  type ViewQueries,
  type ViewRouting,
  type ViewTopic,
  ViewUnsound,
} from '../../../ports/deliveries-view.js';
import {
  type DisposableFile,
  type FileKind,
  isDamage,
  openDisposable,
  removeDisposable,
  throwAway,
} from '../disposable-file.js';
import type { SqliteFile } from '../open-file.js';
import { Counters } from './counters.js';
import { DeliveryPages } from './delivery-pages.js';
import { type DeliveryIdOf, EventPages } from './event-pages.js';
import { EventWriter } from './event-writer.js';
import { Leaving } from './leaving.js';
import { MissedPayments } from './missed.js';
import { Recoverable } from './recoverable.js';
import { type Columns, VIEW_SCHEMA } from './schema.js';
import { Stats } from './stats.js';
import { Webhooks } from './webhooks.js';

/** Increment it with every change of the tables, or of what is written into them. */
const SHAPE = 12;
/** 16 MiB: a page that changes in most transactions is written to the file once for many of them. */
const WAL_PAGES = 4_000;
const CACHE_KIB = 64 * 1024;
/** Events that are looked at when the view is too large, for each entry of a call: more leave than come. */
const TRIMMED_FOR_EACH = 2;

type PositionRow = Columns<'partition' | 'offset', never> & {
  readonly [Column in 'before_offset' | 'before_at']: number | null;
};

/** "awdv" */
const KIND: FileKind = {
  name: `deliveries-view-${SHAPE}`,
  applicationId: 0x61776476,
  shape: SHAPE,
  schema: VIEW_SCHEMA,
  isChecked: false,
};

export const VIEW_FILE = `${KIND.name}.sqlite`;

export interface ViewParts {
  readonly deliveryIdOf: DeliveryIdOf;
  /** Bytes: beyond it what arrived at its first attempt leaves, oldest first. */
  readonly size: number;
}

/** @param onDamaged called with the name of a file that had to be deleted @throws DataDirUnusable */
export function openDeliveriesView(dataDir: string, onDamaged: (file: string) => void, parts: ViewParts): ViewCore {
  return openDisposable(dataDir, KIND, onDamaged, (opened) => new SqliteDeliveriesView(opened, parts));
}

/** Deletes views that another release has left. @throws DataDirUnusable */
export function removeOtherViews(dataDir: string): void {
  for (const file of readdirSync(dataDir)) {
    const name = /^(deliveries-view.*)\.sqlite$/.exec(file)?.[1];
    if (name !== undefined && name !== KIND.name) removeDisposable(dataDir, { ...KIND, name });
  }
}

class SqliteDeliveriesView implements ViewCore {
  readonly id: string;
  readonly #disposable: DisposableFile;
  readonly #size: number;
  readonly #parts: ReturnType<typeof partsOf>;
  readonly #transaction: (work: () => void) => void;

  constructor(disposable: DisposableFile, { deliveryIdOf, size }: ViewParts) {
    const { file } = disposable;
    this.#disposable = disposable;
    this.#size = size;
    file.pragma(`wal_autocheckpoint = ${WAL_PAGES}`);
    file.pragma(`cache_size = -${CACHE_KIB}`);
    this.#parts = partsOf(file, deliveryIdOf);
    this.#transaction = file.transaction((work: () => void) => work());
    this.id = idOf(file);
  }

  of({ accountId, webhookIds }: ViewedAccount): ViewQueries {
    const { deliveries, events, stats, webhooks, recoverable, missed, leaving } = this.#parts;
    const isRemoved = (webhookId: number) => webhookIds !== null && !webhookIds.includes(webhookId);
    const sound = <T>(work: () => T) => this.#sound(work);
    const complete = <T>(work: () => T) => sound(() => ({ ...work(), completeSince: leaving.completeSince() }));
    return {
      page: (query) => complete(() => deliveries.page(accountId, query, isRemoved)),
      publications: (id) => sound(() => deliveries.withId(accountId, id, isRemoved)),
      events: (query) => complete(() => events.page(accountId, query, isRemoved)),
      feed: (query) => complete(() => events.feed(accountId, query, isRemoved)),
      stats: (query) => sound(() => stats.buckets(accountId, query)),
      attempts: (from) => sound(() => stats.attempts(accountId, from)),
      dataSince: () => sound(() => stats.since(accountId)),
      health: () => sound(() => webhooks.health(accountId)),
      recoverableCount: (query) => sound(() => recoverable.count(accountId, query)),
      nextRecoverable: (query, recovery, after) => sound(() => recoverable.next(accountId, query, recovery, after)),
      missedCount: (query) => sound(() => missed.count(accountId, query)),
      nextMissed: (query, _, after) => sound(() => missed.next(accountId, query, after)),
      recovery: (recoveryId) => sound(() => recoverable.progress(accountId, recoveryId)),
    };
  }

  positions(topic: ViewTopic): Positions {
    const rows = this.#sound(() => this.#parts.positions.all(topic) as PositionRow[]);
    return new Map(rows.map((row) => [row.partition, positionOf(row)]));
  }

  add(entries: readonly (ViewEntry | ViewRouting)[], reached: ReachedPositions = new Map()): void {
    const { writer, webhooks, counters, leaving } = this.#parts;
    this.#write(() => {
      const changes = writer.add(entries);
      webhooks.add(changes);
      counters.add(changes);
      if (entries.length > 0 && (this.#parts.bytes.get() as number) > this.#size)
        leaving.trim(TRIMMED_FOR_EACH * entries.length);
      for (const [topic, positions] of reached) this.#setPositions(topic, positions);
    });
  }

  forget(before: number): void {
    this.#write(() => {
      this.#parts.leaving.forget(before);
      this.#parts.counters.forget(before);
    });
  }

  discard(): void {
    throwAway(this.#disposable);
  }

  close(): void {
    this.#disposable.file.close();
  }

  #setPositions(topic: ViewTopic, positions: Positions): void {
    for (const [partition, { offset, before }] of positions) {
      this.#parts.setPosition.run(topic, partition, offset, before?.offset ?? null, before?.timestamp ?? null);
    }
  }

  #write(work: () => void): void {
    this.#sound(() => this.#transaction(work));
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

function partsOf(file: SqliteFile, deliveryIdOf: DeliveryIdOf) {
  const webhooks = new Webhooks(file);
  const counters = new Counters(file);
  return {
    ...{ webhooks, counters },
    writer: new EventWriter(file),
    deliveries: new DeliveryPages(file),
    events: new EventPages(file, deliveryIdOf),
    stats: new Stats(file, webhooks, counters),
    recoverable: new Recoverable(file),
    missed: new MissedPayments(file, deliveryIdOf),
    leaving: new Leaving(file, webhooks),
    positions: file.prepare('SELECT partition, offset, before_offset, before_at FROM positions WHERE topic = ?'),
    setPosition: file.prepare(
      'INSERT OR REPLACE INTO positions (topic, partition, offset, before_offset, before_at) VALUES (?, ?, ?, ?, ?)',
    ),
    /** Bytes in use. */
    bytes: file
      .prepare(
        'SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
      )
      .pluck(),
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
