/** The plan of every statement of the deliveries view: its cost must not depend on how much an account or the view has. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { driver, type SqliteFile } from '../../../src/adapters/sqlite/open-file.js';
import { Statements } from '../../../src/adapters/sqlite/statements.js';
import { openDeliveriesView } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import { VIEW_SCHEMA } from '../../../src/adapters/sqlite/view/schema.js';
import type { DeliveriesQuery, EventsQuery, ViewCore, ViewQueries } from '../../../src/ports/deliveries-view.js';
import { ARRIVED_FILTERS } from '../../../src/ports/deliveries-view.js';
import { OUTCOMES } from '../../../src/ports/delivery-order.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { behind, entries, entry, routing, VIEW_SIZE } from '../../support/scenes/deliveries-view-subject.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';
import { wholeQueries } from '../../support/scenes/whole-queries.js';

const VIEW_FOLDER = join(import.meta.dirname, '../../../src/adapters/sqlite/view');
const METHODS = ['run', 'row', 'rows', 'each'] as const;

interface Recorded {
  /** By statement, its first values. */
  readonly statements: Map<string, unknown>;
  /** Lines of src that ran a statement, as file:line. */
  readonly lines: Set<string>;
}

/** Several lines may run one statement. */
const STACKS_PER_STATEMENT = 20;

/** Records every statement of any view while `work` runs. */
function recorded(work: () => void): Recorded {
  const found: Recorded = { statements: new Map(), lines: new Set() };
  const times = new Map<string, number>();
  const originals = METHODS.map((method) => [method, Statements.prototype[method]] as const);
  for (const [method, original] of originals) {
    const recording = function (this: Statements, sql: string, values: unknown = []) {
      const runs = (times.get(sql) ?? 0) + 1;
      times.set(sql, runs);
      // A stack takes long.
      if (runs <= STACKS_PER_STATEMENT) found.lines.add(callerIn(new Error('caller').stack ?? ''));
      if (runs === 1) found.statements.set(sql, values);
      return (original as (...given: readonly unknown[]) => unknown).call(this, sql, values);
    };
    Object.defineProperty(Statements.prototype, method, { value: recording, configurable: true, writable: true });
  }
  try {
    work();
  } finally {
    for (const [method, value] of originals) {
      Object.defineProperty(Statements.prototype, method, { value, configurable: true, writable: true });
    }
  }
  return found;
}

function callerIn(stack: string): string {
  const [, file, line] = /sqlite\/view\/([\w-]+\.ts):(\d+)/.exec(stack) ?? [];
  return `${file}:${line}`;
}

/** All lines of the view that run a statement. */
function callingLines(): readonly string[] {
  const files = readdirSync(VIEW_FOLDER).filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const lines = readFileSync(join(VIEW_FOLDER, file), 'utf8').split('\n');
    return lines.flatMap((line, at) => (/\bsql\.(run|row|rows|each)\b/.test(line) ? [`${file}:${at + 1}`] : []));
  });
}

type Choices<Query> = { readonly [Name in keyof Query]-?: readonly Query[Name][] };

/** Every combination of filters: a filter that is added to a query has to be added here. */
const DELIVERIES: Choices<Omit<DeliveriesQuery, 'limit' | 'before'>> = {
  webhookId: [null, 7],
  outcome: [null, ...OUTCOMES],
  held: [null, true, false],
  eventType: [null, 'cash_in'],
  eventId: [null, 'pay-1'],
  status: [null, '2xx', '5xx'],
  errors: [null, ['timeout']],
  from: [null, NOW],
  to: [null, NOW + 9],
};
const EVENTS: Choices<Omit<EventsQuery, 'limit' | 'before'>> = {
  arrived: [null, ...ARRIVED_FILTERS, 'pending'],
  webhookIds: [null, [7]],
  reference: [null, 'r'],
  eventType: [null, 'cash_in'],
  eventId: [null, 'pay-1'],
  status: [null, '2xx', '5xx'],
  errors: [null, ['timeout']],
  from: [null, NOW],
  to: [null, NOW + 9],
};

function combinations<Query>(choices: Choices<Query>): readonly Query[] {
  const all = Object.entries(choices) as [string, readonly unknown[]][];
  const combined = all.reduce<object[]>(
    (some, [name, values]) => some.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
  return combined as Query[];
}

const PERIOD = { since: 0, until: 2 * NOW };
const UNDELIVERED = { ...PERIOD, webhookIds: [7, 8], include: ['exhausted', 'retrying', 'held'] as const };
const MISSED = { ...PERIOD, webhooks: [{ id: 8, eventType: 'cash_in' }] };

/** Every query, with all that it may be asked. */
const QUESTIONS: { readonly [Query in keyof ViewQueries]: (queries: ViewQueries) => void } = {
  page: (queries) => {
    for (const asked of combinations(DELIVERIES)) queries.page({ ...asked, before: null, limit: 2 });
  },
  events: (queries) => {
    for (const asked of combinations(EVENTS)) queries.events({ ...asked, before: null, limit: 2 });
  },
  feed: (queries) => {
    for (const asked of combinations(EVENTS)) queries.feed({ ...asked, after: new Map(), limit: 2 });
  },
  publications: (queries) => void queries.publications(entry(1).id),
  stats: (queries) => {
    for (const step of ['1m', '1h'] as const)
      for (const eventType of [null, 'cash_in'])
        for (const webhookId of [null, 7]) queries.stats({ ...{ from: 0, to: 2 * NOW }, step, eventType, webhookId });
  },
  attempts: (queries) => void queries.attempts(0),
  dataSince: (queries) => void queries.dataSince(),
  health: (queries) => void queries.health(),
  recoverableCount: (queries) => void queries.recoverableCount(UNDELIVERED),
  nextRecoverable: (queries) => void queries.nextRecoverable(UNDELIVERED, 'r', null),
  missedCount: (queries) => void queries.missedCount(MISSED, { 'payment-events/0/': 1 }),
  nextMissed: (queries) => void queries.nextMissed(MISSED, null),
  recovery: (queries) => void queries.recovery('r'),
};

/** Entries that are new, known and requested; then what is too much, and what is too old, leaves. */
function fill(view: ViewCore): void {
  const failed = entry(3, {
    outcome: 'exhausted',
    attempt: entry(3).attempt && ({ ...entry(3).attempt, status: 503 } as never),
  });
  const requested = entry(3, { outcome: 'retrying', chain: 2, attempts: 0, recovery: 'r', attempt: null });
  for (const some of [
    [routing(1), entry(1), failed],
    [requested, entry(1), routing(2)],
  ])
    view.add(some, behind(some));
}

function everything(): Recorded {
  const folders = [temporaryDirectory(), temporaryDirectory()] as const;
  try {
    return recorded(() => {
      const view = openDeliveriesView(folders[0].path, () => undefined, VIEW_SIZE);
      fill(view);
      view.positions('deliveries');
      const queries = wholeQueries(view, { accountId: ACCOUNT, webhookIds: [7] });
      for (const ask of Object.values(QUESTIONS)) ask(queries);
      for (let round = 0; round < 3; round += 1) view.forget(2 * NOW);
      view.close();
      // Too large from its first entry on.
      const small = openDeliveriesView(folders[1].path, () => undefined, 1);
      small.add(entries(10));
      small.close();
    });
  } finally {
    for (const folder of folders) folder.remove();
  }
}

/** Statements of triggers, which no plan of a statement shows. */
function triggered(file: SqliteFile): ReadonlyMap<string, unknown> {
  const triggers = file.prepare<[], { sql: string }>("SELECT sql FROM sqlite_master WHERE type = 'trigger'").all();
  const bodies = triggers.map(({ sql }) => sql.slice(sql.indexOf('BEGIN') + 5, sql.lastIndexOf('END')));
  const statements = bodies.flatMap((body) => body.split(';').filter((one) => one.trim() !== ''));
  return new Map(statements.map((one) => [one.replaceAll(/\b(old|new)\.\w+/g, '1'), []]));
}

/** By index, the constraints that may be searched for in it: each begins with what bounds the rows. */
const SEARCHES: Readonly<Record<string, RegExp>> = {
  'INTEGER PRIMARY KEY': /^\(rowid[=>]\?\)$/,
  // One account: by time, by a state and time, by a partition and offset.
  eventsInOrder:
    /^\(accountId=\? AND (firstAt=\? AND paymentOffset=\? AND payment=\?|firstAt>\? AND \(firstAt,paymentOffset,payment\)<\(\?,\?,\?\)|\(firstAt,paymentOffset,payment\)>\(\?,\?,\?\) AND firstAt<\?)\)$/,
  eventsInTrouble:
    /^\(accountId=\? AND arrived=\? AND firstAt>\? AND \(firstAt,paymentOffset,payment\)<\(\?,\?,\?\)\)$/,
  eventsInFeed: /^\(accountId=\? AND partition=\? AND \(offset,idx\)>\(\?,\?\)\)$/,
  deliveriesInTrouble:
    /^\(accountId=\? AND state=\? AND (firstAt>\? AND \(firstAt,paymentOffset\)<\(\?,\?\)|\(firstAt,paymentOffset\)>\(\?,\?\) AND firstAt<\?)\)$/,
  deliveriesOfWebhook:
    /^\(accountId=\? AND webhookId=\?( AND state=\? AND (firstAt>\? AND \(firstAt,paymentOffset\)<\(\?,\?\)|\(firstAt,paymentOffset\)>\(\?,\?\) AND firstAt<\?))?\)$/,
  failures: /^\(accountId=\? AND webhookId=\?( AND at>\?)?\)$/,
  // One block of rows, and an account in it.
  eventsById: /^\(<expr>=\? AND accountId=\?( AND eventId=\?)?\)$/,
  eventsByReference: /^\(<expr>=\? AND accountId=\? AND reference=\?\)$/,
  deliveriesById: /^\(<expr>=\? AND accountId=\?( AND id=\?)?\)$/,
  'blocks PRIMARY KEY': /^\(tableName=\? AND accountId=\? AND block[=<]\?\)$/,
  // One event, one delivery, one recovery, one topic.
  deliveriesOfEvent: /^\(event=\?( AND webhookId=\?)?\)$/,
  'attempts PRIMARY KEY': /^\(delivery=\?\)$/,
  'requests PRIMARY KEY': /^\(delivery=\?\)$/,
  'progress PRIMARY KEY': /^\(accountId=\? AND recovery=\?( AND state=\?)?\)$/,
  'positions PRIMARY KEY': /^\(topic=\?\)$/,
  // Some of one step, of one account or of all, by their key (LIMIT); the next step; one counter.
  'counters PRIMARY KEY':
    /^\(step=\? AND (at=\? AND accountId=\? AND (\(webhookId,kind\)>\(\?,\?\) AND webhookId<\?|webhookId>\?|webhookId=\? AND kind=\? AND partition=\?)|at>\? AND at<\?|at=\? AND \(accountId,webhookId,kind,partition\)>\(\?,\?,\?,\?\)|at<\?)\)$/,
};

/** What is sorted: so many rows at most. */
const SORTS: readonly (readonly [step: RegExp, statement: RegExp, why: string])[] = [
  [
    /^USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY$/,
    /deliveries INDEXED BY/,
    'deliveries of payments of one ms and one offset',
  ],
  [
    /^USE TEMP B-TREE FOR (LAST TERM|RIGHT PART) OF ORDER BY$/,
    /events INDEXED BY/,
    'deliveries or webhooks of one event',
  ],
  [/^USE TEMP B-TREE FOR ORDER BY$/, /json_each\(@found\)/, 'the 1,000 rows that are found for a text'],
  [
    /^USE TEMP B-TREE FOR (LAST TERM OF )?ORDER BY$/,
    /FROM deliveries WHERE event = @row/,
    'deliveries and webhooks of one event',
  ],
];

/** Lists that a statement was given, and parts of it that are bounded by a LIMIT. */
const SCANS = /^SCAN (\w+ VIRTUAL TABLE INDEX \d+:|CONSTANT ROW|standing$|some$|pragma_)/;

function isBounded(detail: string, statement: string): boolean {
  if (/AUTOMATIC/.test(detail)) return false;
  if (detail.startsWith('SCAN ')) return SCANS.test(detail);
  if (detail.startsWith('USE TEMP')) return SORTS.some(([step, of]) => step.test(detail) && of.test(statement));
  const [, table, index = 'PRIMARY KEY', constraints = ''] =
    /^SEARCH (\w+)(?: USING (?:COVERING )?(?:INDEX )?([A-Za-z ]*\w))? (\(.*\))/.exec(detail) ?? [];
  if (!detail.startsWith('SEARCH ')) return true;
  const known = SEARCHES[index] ?? SEARCHES[`${table} ${index}`];
  return known?.test(constraints) ?? false;
}

function unbounded(file: SqliteFile, statements: ReadonlyMap<string, unknown>) {
  return [...statements].flatMap(([statement, values]) => {
    const explained = file.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement}`);
    const steps = explained.all(withJson(values)).map(({ detail }) => detail);
    const wrong = steps.filter((detail) => !isBounded(detail, statement));
    return wrong.length > 0 ? [{ statement, wrong }] : [];
  });
}

function withJson(values: unknown): unknown {
  if (Array.isArray(values)) return values;
  const all = Object.entries(values as object);
  return Object.fromEntries(all.map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : value]));
}

describe('statements of the deliveries view', () => {
  let file: SqliteFile;
  let found: Recorded;
  beforeAll(() => {
    file = new (driver())(':memory:');
    file.exec(VIEW_SCHEMA);
    found = everything();
  });
  afterAll(() => void file.close());

  test('are all run here: no line that runs one is left out', () => {
    const lines = callingLines();
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !found.lines.has(line))).toEqual([]);
  });

  test('examine a bounded number of rows, by the index that serves their filter, and sort a bounded number', () => {
    expect(found.statements.size).toBeGreaterThan(60);
    expect(unbounded(file, found.statements)).toEqual([]);
  });

  test('of triggers are bounded as well', () => {
    const statements = triggered(file);
    expect(statements.size).toBeGreaterThan(8);
    expect(unbounded(file, statements)).toEqual([]);
  });

  test('that insert a row run no trigger: it would copy each page into a statement journal', () => {
    const triggers = file.prepare<[], { sql: string }>("SELECT sql FROM sqlite_master WHERE type = 'trigger'").all();
    const tables = triggers.flatMap(({ sql }) => / AFTER INSERT ON (\w+)/.exec(sql)?.[1] ?? []);
    // Requests are few: what an account sends again.
    expect(tables).toEqual(['requests']);
  });

  test.each([
    ['a scan', 'SELECT * FROM events WHERE eventType = ?'],
    [
      'an index that does not serve the filter',
      'SELECT * FROM events INDEXED BY eventsInOrder WHERE accountId = ? AND arrived = 1',
    ],
    ['a sort of a whole account', 'SELECT * FROM events WHERE accountId = ? AND firstAt > 1 ORDER BY eventId LIMIT 1'],
    ['a whole step of counters', 'SELECT sum(n) FROM counters WHERE step = ?'],
    ['all counters of a step of an account', 'SELECT sum(n) FROM counters WHERE step = ? AND at = 1 AND accountId = 2'],
  ])('would be refused for %s', (_why, statement) => {
    expect(unbounded(file, new Map([[statement, [1]]]))).toHaveLength(1);
  });
});

test('of webhooks that may have missed payments, statements get what they ask for, without headers', () => {
  const folder = temporaryDirectory();
  const { statements } = recorded(() => {
    const view = openDeliveriesView(folder.path, () => undefined, VIEW_SIZE);
    const queries = wholeQueries(view, { accountId: ACCOUNT, webhookIds: [8] });
    const webhooks = [{ id: 8, eventType: 'cash_in', headers: [{ name: 'x', value: 'sealed' }] }];
    queries.missedCount({ ...PERIOD, webhooks }, {});
    queries.nextMissed({ ...PERIOD, webhooks }, null);
    view.close();
  });
  folder.remove();
  const asked = [...statements].filter(([sql]) => sql.includes('@webhooks'));
  expect(asked.length).toBeGreaterThanOrEqual(2);
  for (const [, values] of asked) expect(JSON.stringify(values)).not.toContain('sealed');
});
