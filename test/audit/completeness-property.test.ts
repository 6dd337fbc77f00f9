/**
 * Random histories with random faults, against oracles that look up each payment, webhook and topic by itself: records that
 * are dropped, heads of topics that are cut, a deliveries topic that is recreated, entries in any order, doubled, or of
 * clocks that are days off, timestamps that are no times, what was written by strangers or another store, a store that was
 * restored, offsets that were moved ahead, and a PAYMENT_TOPICS that lacks a
 * topic. COMPLETENESS_RUNS makes it longer.
 */
import fc from 'fast-check';
import type { Report } from '../../src/audit/report.js';
import { topicsOf } from '../../src/delivery/topics.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { OUTCOMES } from '../../src/ports/delivery-order.js';
import { DEFECTS } from '../support/audit-defects.js';
import { TOPICS } from '../support/audit-fixture.js';
import { Oracle } from '../support/audit-oracle.js';
import { HistoryTopics } from '../support/history-topics.js';
import { LossOracle } from '../support/loss-oracle.js';
import { type Fact, history, TIERS, WEBHOOKS } from '../support/payment-histories.js';
import { inFull } from '../support/thorough.js';

const RUNS = Number(process.env.COMPLETENESS_RUNS ?? inFull(1_500, 300, 10_000));
jest.setTimeout(20_000 + RUNS * 100);

/** Each has to occur: the rarest does in 3 of 100 histories. */
const COUNTS = [
  ...['records', 'events', 'invalid', 'notDue', 'deliveries', 'delivered', 'exhausted', 'cancelled'],
  ...['retrying', 'waiting', 'unanswered', 'unexpected', 'lost'],
];
const STEP = 60_000;
/** Of which faults are drawn one by one. */
const FACTS = 60;
const DAYS = 1_440 * STEP;
const COMPARED: readonly string[] = [...TOPICS.payments, TOPICS.deliveries, TOPICS.requests];
const many = <T>(one: fc.Arbitrary<T>, maxLength: number) => fc.array(one, { maxLength, size: 'max' });
const mostly = <T>(usual: T, one: fc.Arbitrary<T>, weight = 4) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight }, { arbitrary: one, weight: 1 });
const flags = (weight: number) => fc.array(mostly(false, fc.boolean(), weight), { minLength: FACTS, maxLength: FACTS });

/** Of no service: it may say anything of any payment. */
const stray = fc.record({
  kind: fc.constantFrom(...(['entry', 'letter', 'retry', 'routed', 'buried', 'request'] as const)),
  ...{
    p: fc.nat(3),
    webhookId: fc.constantFrom(...WEBHOOKS),
    attempts: fc.nat(3),
    outcome: fc.constantFrom(...OUTCOMES),
  },
  ...{ placed: fc.boolean(), tier: fc.constantFrom(...TIERS), store: fc.constantFrom('own', 'another') },
  ...{ routed: fc.integer({ min: -1, max: 8 }), further: fc.nat(2), webhooks: fc.subarray([...WEBHOOKS]) },
  isFormer: mostly(false, fc.boolean(), 2),
});
type Stray = typeof stray extends fc.Arbitrary<infer T> ? T : never;

const world = fc.record({
  history,
  /** How much of it has happened, in percent. */
  part: mostly(100, fc.nat(100), 2),
  strays: many(stray, 5),
  /** By fact. */
  lost: flags(6),
  isWhole: fc.boolean(),
  doubled: flags(4),
  clocks: fc.array(fc.integer({ min: -2, max: 2 }), { minLength: FACTS, maxLength: FACTS }),
  /** Whether the deliveries topic gives its entries in the reverse order. */
  isReversed: fc.boolean(),
  order: fc.array(fc.nat(), { minLength: FACTS, maxLength: FACTS }),
  /** When the deliveries topic is recreated, in percent of the facts. */
  recreated: mostly(null, fc.nat(100), 15),
  /** How many events of the first account the store lost when it was restored. */
  restored: mostly(0, fc.integer({ min: 1, max: 3 }), 7),
  audited: mostly(TOPICS.payments, fc.constantFrom(...TOPICS.payments.map((topic) => [topic] as const)), 10),
  cuts: many(fc.record({ topic: fc.constantFrom(...COMPARED), partition: fc.nat(1), offset: fc.nat(4) }), 1),
  ahead: many(
    fc.record({
      topic: fc.constantFrom(...TOPICS.payments, ...TIERS, TOPICS.requests),
      partition: fc.nat(1),
      by: fc.nat(2),
    }),
    2,
  ),
  period: fc.record({
    from: mostly(0, fc.nat(5)).map((n) => n * STEP),
    to: mostly(99, fc.integer({ min: 5, max: 13 })).map((n) => n * STEP),
    account: mostly(null, fc.integer({ min: 1, max: 2 })),
  }),
});
type Seen = (typeof DEFECTS)[string];
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

const reported = (seen: Map<string, number>, planted: Seen = (parts) => parts) =>
  fc.asyncProperty(world, async (given) => {
    const { topics, ...left } = happened(given);
    const oracle = { history: given.history, period: given.period, audited: given.audited, ...left };
    const isRestored = given.restored > 0;
    const { counts, ...lists } = new Oracle({ ...oracle, isRestored }).tell();
    const lost = new LossOracle({ ...oracle, isRestored }).tell(counts.unanswered > 0);
    const own = topicsOf(given.audited, 'test.');
    const report = await topics.audit(given.period, (parts) =>
      planted({ ...(given.isReversed ? reversed(parts) : parts), topics: own }),
    );
    expect(told(report)).toEqual({ counts, ...lists, lost });
    const has = { ...counts, retrying: Object.keys(counts.retrying).length, lost: report.lost.length };
    for (const [name, count] of Object.entries(has)) if (count) seen.set(name, (seen.get(name) ?? 0) + 1);
  });

const reversed: Seen = (parts) => ({
  ...parts,
  async *records(topic, options) {
    const records: ReceivedRecord[] = [];
    for await (const record of parts.records(topic, options)) records.push(record);
    // The oldest stays the first: it shows what the topic lost.
    const [oldest, ...others] = records;
    if (oldest) yield oldest;
    yield* topic === TOPICS.deliveries ? others.reverse() : others;
  },
});

test('the report is what looking up each payment, webhook and topic by itself says', async () => {
  const seen = new Map<string, number>();
  await fc.assert(reported(seen), { numRuns: RUNS });
  expect(COUNTS.filter((name) => !seen.has(name))).toEqual([]);
});

/** Nothing was lost, doubled or written by strangers; the history may end anywhere. */
const soundWorld = world.map((given) => ({
  ...{ ...given, strays: [], isWhole: true, clocks: [0], doubled: [false], recreated: null, restored: 0 },
  ...{ audited: TOPICS.payments, cuts: [], ahead: [], period: { from: 0, to: 99 * STEP, account: null } },
}));

test('where nothing was lost, nothing is unanswered: held, resent, recovered and cancelled deliveries included', async () => {
  const property = fc.asyncProperty(soundWorld, async (given) => {
    const { topics } = happened(given as World);
    const report = await topics.audit(given.period, (parts) => parts);
    expect(told(report)).toMatchObject({ unanswered: [], unexpected: [] });
  });
  await fc.assert(property, { numRuns: RUNS });
});

const PLANTED = Object.entries(DEFECTS);
/** The others take thousands of histories to be found. */
const QUICK = PLANTED.slice(0, 5);

test.each(inFull(QUICK, QUICK, PLANTED))('an audit that %s is found', async (_, planted) => {
  const found = await fc.check(reported(new Map(), planted), { numRuns: 20_000, endOnFailure: true });
  expect(found.failed).toBe(true);
});

function told(report: Report) {
  const name = ({ source, webhookId }: { source: string; webhookId: number | null }) =>
    webhookId === null ? source : `${source} ${webhookId}`;
  return {
    counts: report.counts,
    unanswered: [...report.found('unanswered')].map(name).sort(),
    unexpected: [...report.found('unexpected')].map(name).sort(),
    lost: [...new Set(report.lost.map(({ topic }) => topic))].filter((topic) => COMPARED.includes(topic)).sort(),
  };
}

function happened(given: World) {
  const { history: full, part, lost, cuts, isWhole } = given;
  const facts = withFaults(given, full.facts.slice(0, Math.ceil((part * full.facts.length) / 100)));
  const topics = new HistoryTopics(full);
  const former = written(topics, given, facts);
  const isLost = (fact: Fact, index: number) => {
    const record = topics.written.get(fact);
    const isCut = cuts.some(
      (cut) => cut.topic === record?.topic && cut.partition === record.partition && record.offset < cut.offset,
    );
    return former.has(fact) || isCut || (!isWhole && Boolean(lost[index % lost.length]));
  };
  const gone = new Set(facts.filter(isLost).flatMap((fact) => topics.written.get(fact) ?? []));
  for (const topic of new Set([...topics.written.values()].map((record) => record.topic))) {
    topics.topics.drop(topic, (record) => gone.has(record));
  }
  const left = facts.filter((fact) => !gone.has(topics.written.get(fact) ?? nothing));
  return { topics: topics.topics, facts: left, written: topics.written, committed: topics.committed, former };
}

/** @returns the facts whose record was in the former deliveries topic */
function written(topics: HistoryTopics, { ahead, recreated, restored }: World, facts: readonly Fact[]): Set<Fact> {
  const until = recreated === null ? 0 : Math.ceil((recreated * facts.length) / 100);
  topics.write(facts.slice(0, until));
  const isOfLog = (fact: Fact) => topics.written.get(fact)?.topic === TOPICS.deliveries;
  const former = new Set(recreated === null ? [] : [...topics.written.keys()].filter(isOfLog));
  if (recreated !== null) topics.recreateLog();
  topics.write(facts.slice(until));
  for (const { topic, partition, by } of ahead) {
    const isTier = TIERS.some((tier) => tier === topic);
    const name = isTier ? TOPICS.tier({ text: topic, ms: 0 }) : topic;
    const at = TOPICS.payments.includes(topic) ? partition : 0;
    topics.commit(name, at, (topics.committed.get(`${name}/${at}`) ?? 0) + by);
  }
  if (restored > 0) topics.topics.restored(1, restored);
  return former;
}

const nothing = { topic: '', partition: 0, offset: 0, timestamp: 0, key: null, value: null, headers: [] };

/** In the order in which they are written: entries last, in an order of their own. */
function withFaults({ history: full, strays, doubled, clocks, order }: World, facts: readonly Fact[]): readonly Fact[] {
  const published = new Set(facts.flatMap((fact) => (fact.kind === 'payment' ? [fact.p] : [])));
  const added = strays.map((one, index) => strayFact(one, 1_000 + index));
  const isSaid = (fact: Fact) =>
    !('p' in fact) || (published.has(fact.p) && (full.payments[fact.p]?.event ?? null) !== null);
  const all = [...facts, ...added.filter(isSaid)];
  const entries = all.flatMap((fact, index): Fact[] => {
    if (!isEntry(fact)) return [];
    const one = fact.kind === 'entry' ? { ...fact, at: fact.at + (clocks[index % FACTS] ?? 0) * DAYS } : fact;
    return doubled[index % FACTS] ? [one, { ...one }] : [one];
  });
  const shuffled = entries
    .map((fact, index) => ({ fact, by: order[index % FACTS] ?? 0 }))
    .toSorted((one, other) => one.by - other.by);
  return [...all.filter((fact) => !isEntry(fact)), ...shuffled.map(({ fact }) => fact)];
}

function isEntry({ kind }: Fact): boolean {
  return kind === 'entry' || kind === 'routed';
}

function strayFact({ kind, p, webhookId, attempts, isFormer, ...one }: Stray, id: number): Fact {
  const { outcome, placed, tier, store, routed, further, webhooks } = one;
  const step = { p, webhookId, request: null, attempts };
  if (kind === 'entry') return { kind, ...step, isFormer: isFormer && placed, outcome, placed, at: 0 };
  if (kind === 'letter') return { kind, ...step, isFormer };
  if (kind === 'request') return { kind, p, id, webhookId, cancels: false, others: [] };
  if (kind === 'retry') return { kind, ...step, isFormer, tier, id };
  // A dead letter does not tell a former topic's record from this one's.
  if (kind === 'buried') return { kind, p };
  return { kind, p, isFormer, store, routed, confirmed: routed + further, webhooks };
}
