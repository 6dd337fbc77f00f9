/** The view of deliveries in its own file, filled from the topics. Opening doesn't check it: too large. */
import type { Position } from '../../../ports/broker.js';
import { type SteppedQueries, type Steps, type ViewCore, ViewUnsound } from '../../../ports/deliveries-view.js';
import { type DisposableFile, isDamage, named, type OnDamage, openDisposable, openFormer } from '../disposable-file.js';
import { Statements } from '../statements.js';
import { statQueries } from './counters.js';
import { deliveryQueries } from './delivery-pages.js';
import { eventQueries } from './event-pages.js';
import { fold } from './folding.js';
import { leavingOf } from './leaving.js';
import type { Asking } from './lists.js';
import { recoveryQueries } from './recovering.js';
import { VIEW_SCHEMA } from './schema.js';

/** 16 MiB: a page that changes in most transactions is written to the file once for many of them. */
const WAL_PAGES = 4_000;
/** Events that are looked at when the view is too large, for each entry of a call: more leave than come. */
const TRIMMED_FOR_EACH = 2;

/** Increment it with every change of the tables, or of what is written into them. */
const SHAPE = 23;
/** The first shape that has all that questions name, with the same meaning. */
const ANSWERS_SINCE = 22;

const KIND = {
  name: 'deliveries-view',
  applicationId: 0x61776476, // "awdv"
  shape: SHAPE,
  schema: VIEW_SCHEMA,
};

export const VIEW_FILE = `${named(KIND).name}.sqlite`;

const BYTES_IN_USE = `SELECT (page_count - freelist_count) * page_size AS bytes
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`;
const ID = 'SELECT id FROM view WHERE rowid = 1';
const COMPLETE_SINCE = 'SELECT completeSince FROM view WHERE rowid = 1';
const POSITIONS = 'SELECT partition, position FROM positions WHERE topic = ?';
const PUT_POSITION = 'INSERT OR REPLACE INTO positions VALUES (?, ?, ?)';

/** Of a former shape, to be asked only. */
export function openFormerView(dataDir: string, size: number, shape = SHAPE, since = ANSWERS_SINCE): ViewCore | null {
  return openFormer(dataDir, { ...KIND, shape }, since, (opened) => viewIn(opened, size));
}

/**
 * @param onDamaged called with the name of a file that had to be deleted
 * @param size bytes: beyond it what arrived at its first attempt leaves, oldest first
 * @throws DataDirUnusable
 */
export function openDeliveriesView(dataDir: string, onDamaged: OnDamage, size: number, shape = SHAPE): ViewCore {
  return openDisposable(dataDir, named({ ...KIND, shape }), onDamaged, (opened) => viewIn(opened, size));
}

function viewIn({ file, discard }: DisposableFile, size: number): ViewCore {
  file.pragma(`wal_autocheckpoint = ${WAL_PAGES}`);
  const sql = new Statements(file);
  const leaving = leavingOf(sql);
  const bytesInUse = () => sql.row<{ bytes: number }>(BYTES_IN_USE)?.bytes ?? 0;
  return {
    id: sql.row<{ id: string }>(ID)?.id as string,
    ...sound<Pick<ViewCore, 'of' | 'positions' | 'add' | 'forget'>>({
      of({ accountId, webhookIds }) {
        const kept = sql.row(COMPLETE_SINCE) as Pick<Asking, 'completeSince'>;
        const asking = { accountId, own: webhookIds, ...kept };
        const pages = { ...deliveryQueries(sql, asking), ...eventQueries(sql, asking) };
        return soundSteps({ ...pages, ...statQueries(sql, accountId), ...recoveryQueries(sql, asking) });
      },
      positions(topic) {
        const rows = sql.rows<{ partition: number; position: string }>(POSITIONS, [topic]);
        return new Map(rows.map(({ partition, position }) => [partition, JSON.parse(position) as Position]));
      },
      add: file.transaction((entries, reached = new Map()) => {
        fold(sql, entries);
        if (entries.length > 0 && bytesInUse() > size) leaving.trim(TRIMMED_FOR_EACH * entries.length);
        for (const [topic, positions] of reached)
          for (const [partition, position] of positions) {
            sql.run(PUT_POSITION, [topic, partition, JSON.stringify(position)]);
          }
      }),
      forget: file.transaction((before) => leaving.forget(before)),
    }),
    discard,
    close: () => void file.close(),
  };
}

/** The same methods, that throw ViewUnsound for what they find damaged. */
function sound<Methods extends object>(methods: Methods): Methods {
  const all = Object.entries(methods).map(([name, method]) => {
    const told = (...given: readonly unknown[]) => {
      try {
        return method(...given);
      } catch (cause) {
        throw translated(cause);
      }
    };
    return [name, told];
  });
  return Object.fromEntries(all);
}

/** The same for queries, in each of their steps. */
function soundSteps(queries: SteppedQueries): SteppedQueries {
  const all = Object.entries(queries).map(([name, query]) => {
    const told = function* (...given: readonly unknown[]) {
      try {
        return yield* (query as (...asked: readonly unknown[]) => Steps<unknown>)(...given);
      } catch (cause) {
        throw translated(cause);
      }
    };
    return [name, told];
  });
  return Object.fromEntries(all);
}

function translated(cause: unknown): unknown {
  const isUnsound = isDamage(cause) || cause instanceof SyntaxError;
  return isUnsound ? new ViewUnsound('the deliveries view is damaged', { cause }) : cause;
}
