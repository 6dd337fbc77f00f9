/**
 * Random histories with random faults, against an oracle that looks up each payment and webhook by itself: records that are
 * dropped, heads of topics that are cut, entries in any order, doubled, or of clocks that are days off, what was written by
 * strangers, another store or an earlier release, and offsets that were moved ahead. COMPLETENESS_RUNS makes it longer.
 */
import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { Report } from '../../src/audit/report.js';
import { OUTCOMES } from '../../src/ports/delivery-order.js';
import { TOPICS } from '../support/audit-fixture.js';
import { Oracle } from '../support/audit-oracle.js';
import { HistoryTopics } from '../support/history-topics.js';
import { type Fact, history, TIERS, WEBHOOKS } from '../support/payment-histories.js';
import { inFull } from '../support/thorough.js';

const RUNS = Number(process.env.COMPLETENESS_RUNS ?? inFull(10_000, 300));
jest.setTimeout(20_000 + RUNS * 100);

/** Each has to occur: the rarest does in 3 of 100 histories. */
const COUNTS = [
  ...['records', 'events', 'invalid', 'earlier', 'notDue', 'deliveries', 'delivered', 'exhausted', 'cancelled'],
  ...['retrying', 'waiting', 'unanswered', 'unexpected', 'lost'],
];
const STEP = 60_000;
/** Of which faults are drawn one by one. */
const FACTS = 60;
const DAYS = 1_440 * STEP;
const COMPARED: readonly string[] = [...TOPICS.payments, TOPICS.deliveries];
const many = <T>(one: fc.Arbitrary<T>, maxLength: number) => fc.array(one, { maxLength, size: 'max' });
const mostly = <T>(usual: T, one: fc.Arbitrary<T>, weight = 4) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight }, { arbitrary: one, weight: 1 });
const flags = (weight: number) => fc.array(mostly(false, fc.boolean(), weight), { minLength: FACTS, maxLength: FACTS });

/** Of no service: it may say anything of any payment. */
const stray = fc.record({
  kind: fc.constantFrom('entry' as const, 'letter' as const, 'retry' as const, 'routed' as const, 'buried' as const),
  ...{ p: fc.nat(3), webhookId: fc.constantFrom(...WEBHOOKS), turn: fc.nat(3), outcome: fc.constantFrom(...OUTCOMES) },
  ...{ placed: fc.boolean(), tier: fc.constantFrom(...TIERS), store: fc.constantFrom('own', 'another') },
  ...{ routed: fc.integer({ min: -1, max: 8 }), further: fc.nat(2), webhooks: fc.subarray([...WEBHOOKS]) },
  isFormer: mostly(false, fc.boolean(), 2),
});
type Stray = typeof stray extends fc.Arbitrary<infer T> ? T : never;

const world = fc.record({
  history,
  /** How much of it has happened, in percent. */
  part: mostly(100, fc.nat(100), 2),
  strays: many(stray, 3),
  /** By fact. */
  lost: flags(6),
  isWhole: fc.boolean(),
  doubled: flags(4),
  clocks: fc.array(fc.integer({ min: -2, max: 2 }), { minLength: FACTS, maxLength: FACTS }),
  order: fc.array(fc.nat(), { minLength: FACTS, maxLength: FACTS }),
  old: flags(8),
  cuts: many(fc.record({ topic: fc.constantFrom(...COMPARED), partition: fc.nat(1), offset: fc.nat(4) }), 1),
  ahead: many(
    fc.record({ topic: fc.constantFrom(...TOPICS.payments, ...TIERS), partition: fc.nat(1), by: fc.nat(2) }),
    2,
  ),
  period: fc.record({
    from: mostly(0, fc.nat(5)).map((n) => n * STEP),
    to: mostly(99, fc.integer({ min: 5, max: 13 })).map((n) => n * STEP),
    account: mostly(null, fc.integer({ min: 1, max: 2 })),
  }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

test('the report is what looking up each payment and webhook by itself says', async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const { topics, ...left } = happened(given);
      const report = await topics.audit(given.period);
      const { counts, ...lists } = new Oracle({ history: given.history, period: given.period, ...left }).tell();
      expect(told(report)).toEqual({ counts, ...lists, lost: lostOf(given, left) });
      const has = { ...counts, retrying: Object.keys(counts.retrying).length, lost: report.lost.length };
      for (const [name, count] of Object.entries(has)) if (count) seen.set(name, (seen.get(name) ?? 0) + 1);
    }),
    { numRuns: RUNS },
  );
  console.log('histories by what they have', Object.fromEntries(seen));
  expect(COUNTS.filter((name) => !seen.has(name))).toEqual([]);
});

function told(report: Report) {
  const name = ({ source, webhookId }: { source: string; webhookId: number | null }) =>
    webhookId === null ? source : `${source} ${webhookId}`;
  return {
    counts: report.counts(),
    unanswered: [...report.unanswered()].map(name).sort(),
    unexpected: [...report.unexpected()].map(name).sort(),
    lost: report.lost.map(({ topic }) => topic).filter((topic) => COMPARED.includes(topic)),
  };
}

function happened(given: World) {
  const { history: full, part, lost, cuts, ahead, isWhole } = given;
  const facts = withFaults(given, full.facts.slice(0, Math.ceil((part * full.facts.length) / 100)));
  const topics = new HistoryTopics(full);
  topics.write(facts);
  for (const { topic, partition, by } of ahead) {
    const name = TOPICS.payments.includes(topic) ? topic : TOPICS.tier({ text: topic, ms: 0 });
    const at = name === topic ? partition : 0;
    topics.commit(name, at, (topics.committed.get(`${name}/${at}`) ?? 0) + by);
  }
  const { written, committed } = topics;
  const isLost = (fact: Fact, index: number) => {
    const record = written.get(fact);
    const isCut = cuts.some(
      (cut) => cut.topic === record?.topic && cut.partition === record.partition && record.offset < cut.offset,
    );
    return isCut || (!isWhole && Boolean(lost[index % lost.length]));
  };
  const gone = new Set(facts.filter(isLost).flatMap((fact) => written.get(fact) ?? []));
  for (const topic of new Set([...written.values()].map((record) => record.topic))) {
    topics.topics.drop(topic, (record) => gone.has(record));
  }
  const left = facts.filter((fact) => !gone.has(written.get(fact) ?? nothing));
  return { topics: topics.topics, facts: left, written, committed };
}

const nothing = { topic: '', partition: 0, offset: 0, timestamp: 0, key: null, value: null, headers: [] };

/** In the order in which they are written: entries last, in an order of their own. */
function withFaults(
  { history: full, strays, doubled, clocks, order, old }: World,
  facts: readonly Fact[],
): readonly Fact[] {
  const published = new Set(facts.flatMap((fact) => (fact.kind === 'payment' ? [fact.p] : [])));
  const added = strays.map((one, index) => strayFact(one, 1_000 + index));
  const isSaid = (fact: Fact) =>
    fact.kind === 'retried' || (published.has(fact.p) && (full.payments[fact.p]?.event ?? null) !== null);
  const all = [...facts, ...added.filter(isSaid)].flatMap((fact): Fact[] => {
    if (!('p' in fact) || !old[fact.p]) return [fact];
    if (fact.kind === 'routed') return [];
    return [fact.kind === 'entry' ? { ...fact, placed: false, isFormer: false } : fact];
  });
  const entries = all.flatMap((fact, index): Fact[] => {
    if (fact.kind !== 'entry' && fact.kind !== 'routed') return [];
    const one = fact.kind === 'entry' ? { ...fact, at: fact.at + (clocks[index % FACTS] ?? 0) * DAYS } : fact;
    return doubled[index % FACTS] ? [one, { ...one }] : [one];
  });
  const shuffled = entries
    .map((fact, index) => ({ fact, by: order[index % FACTS] ?? 0 }))
    .toSorted((one, other) => one.by - other.by);
  return [...all.filter(({ kind }) => kind !== 'entry' && kind !== 'routed'), ...shuffled.map(({ fact }) => fact)];
}

function strayFact({ kind, p, webhookId, turn, isFormer, ...one }: Stray, id: number): Fact {
  const { outcome, placed, tier, store, routed, further, webhooks } = one;
  if (kind === 'entry') return { kind, p, webhookId, turn, isFormer: isFormer && placed, outcome, placed, at: 0 };
  if (kind === 'letter') return { kind, p, webhookId, turn, isFormer };
  if (kind === 'retry') return { kind, p, webhookId, turn, isFormer, tier, id };
  // A dead letter does not tell a former topic's record from this one's.
  if (kind === 'buried') return { kind, p };
  return { kind, p, isFormer, store, routed, confirmed: routed + further, webhooks };
}

/** The topics that show that they have not all of the period. */
function lostOf(
  { history: full, period }: World,
  { facts, written, committed }: Omit<ReturnType<typeof happened>, 'topics'>,
): string[] {
  const left = facts.flatMap((fact) => written.get(fact) ?? []);
  const isLacking = (topic: string, partition: number) => {
    const isIt = (record: { topic: string; partition: number }) =>
      record.topic === topic && record.partition === partition;
    const next = [...written.values()].filter(isIt).length;
    const kept = left.filter(isIt).toSorted((one, other) => one.offset - other.offset)[0];
    const isCut = kept ? kept.offset > 0 : next > 0;
    return (isCut || (committed.get(`${topic}/${partition}`) ?? 0) > next) && (!kept || kept.timestamp > period.from);
  };
  const isNamed = (topic: string) =>
    facts.some((fact) => {
      if (fact.kind !== 'routed' || TOPICS.payments[full.payments[fact.p]?.topic ?? 0] !== topic) return false;
      const { at: its, event } = full.payments[fact.p] ?? { at: 0, event: null };
      const at = fact.isFormer ? its - 1 : its;
      const isIn = at >= period.from && at < period.to && (period.account ?? event?.accountId) === event?.accountId;
      return isIn && (fact.isFormer || !facts.some((other) => other.kind === 'payment' && other.p === fact.p));
    });
  return COMPARED.filter((topic) => [0, 1].some((partition) => isLacking(topic, partition)) || isNamed(topic));
}
