/** The promises that hold of a world once nothing in it waits. */
import { fromRetryRecord } from '../../../src/delivery/delivery.js';
import { type DeliveryLogEntry, readLogRecord } from '../../../src/delivery/log/log-record.js';
import type { DeliveryDetail, ViewTopic } from '../../../src/ports/deliveries-view.js';
import type { Asked, Known } from './known.js';
import { SCHEDULE, TOPICS } from './settings.js';
import { Rows } from './sim-view.js';
import type { Requested, World } from './world.js';

interface Entry {
  readonly entry: DeliveryLogEntry;
  readonly at: number;
}

/** What both topics say of one delivery. */
interface Told {
  readonly key: string;
  readonly now: DeliveryDetail;
  readonly entries: readonly Entry[];
  readonly requests: readonly Requested[];
  readonly hasLetter: boolean;
}

export function checkAtRest(world: World): void {
  const rows = world.known.rows();
  const told = toldOf(world, rows);
  for (const one of told) {
    ended(world, one);
    keptAsGivenUp(world, one);
    notTooOften(world, one);
    replayedOnce(world, one);
    recoveredOnce(world, one);
  }
  for (const recovery of world.known.recoveries.keys()) recovered(world, recovery);
  agree(world, rows);
  bounded(world);
}

function toldOf(world: World, rows: Rows): Told[] {
  const keyOf = (id: string, payment?: string | null) => `${id} ${payment}`;
  const entries = world.topics
    .all(TOPICS.deliveries)
    .flatMap((record) => readLogRecord(record).deliveries.map((entry) => ({ entry, at: record.timestamp })));
  const requests = world.requests();
  const letters = world.topics.all(TOPICS.deadLetters).flatMap((record) => fromRetryRecord(record) ?? []);
  const buried = new Set(letters.map(({ id, payment }) => keyOf(id, payment)));
  return rows.details().map((now) => {
    const { id, payment } = now;
    return {
      ...{ key: keyOf(id, payment), now, hasLetter: buried.has(keyOf(id, payment)) },
      entries: entries.filter(({ entry }) => entry.id === id && entry.payment === payment),
      requests: requests.filter(({ request }) => request.delivery.id === id && request.places.includes(payment ?? '')),
    };
  });
}

function ended({ known, account }: World, { key, now, requests, hasLetter }: Told): void {
  const { outcome, webhookId } = now;
  if (outcome === 'retrying') known.violated('I1', `it says that it waits, and nothing does: ${key}`);
  if (outcome === 'exhausted' && !hasLetter) known.violated('I1', `exhausted without a letter: ${key}`);
  const isOff = account.events.some(({ type, data }) => {
    return (type === 'WebhookDeactivated' || type === 'WebhookRemoved') && data.webhookId === webhookId;
  });
  const isCancelled = requests.some(({ request }) => request.cancels);
  if (outcome === 'cancelled' && !isOff && !isCancelled) known.violated('I1', `cancelled by nobody: ${key}`);
}

function keptAsGivenUp({ known }: World, { key, now, entries }: Told): void {
  const isDelivered = entries.some(({ entry }) => entry.outcome === 'delivered');
  const isGivenUp = entries.some(({ entry }) => entry.outcome === 'exhausted');
  if (isDelivered && now.outcome !== 'delivered') known.violated('I6', `delivered, and ${now.outcome}: ${key}`);
  if (isDelivered || !isGivenUp || now.outcome === 'exhausted') return;
  known.violated('I2', `given up, and then ${now.outcome}: it can't be recovered: ${key}`);
}

/** An attempt more only where a record was handed out again, or where one was refused, which may use no step. */
function notTooOften({ known, mostRemembered }: World, { key, requests }: Told): void {
  const made = known.attempts.filter((attempt) => attempt.key === key);
  if (mostRemembered !== undefined) return;
  for (const chain of new Set(made.map((attempt) => attempt.chain))) {
    const begins = requests.find(({ request }) => request.delivery.chain === chain)?.request.delivery.step ?? 0;
    const planned = SCHEDULE.length + 1 - begins;
    const more = known.again.get(`${key} ${chain}`) ?? 0;
    const ofChain = made.filter((attempt) => attempt.chain === chain);
    const length = ofChain.filter(({ end }) => end !== 'refused').length;
    if (length <= planned + more) continue;
    known.violated('I4', `${length} attempts of chain ${chain}, ${planned} planned, ${more} more allowed: ${key}`);
  }
}

/** A letter's replay ends before the next one begins. */
function replayedOnce({ known }: World, { key, entries, requests }: Told): void {
  const replays = requests.filter(({ request }) => request.delivery.trigger === 'replay');
  for (const [at, next] of replays.entries()) {
    const before = replays[at - 1];
    if (!before) continue;
    const [from, to] = [before.request.delivery.chain, next.request.delivery.chain];
    const isBetween = requests.some(({ request: { delivery } }) => delivery.chain > from && delivery.chain < to);
    const hasEnded = entries.some(({ entry, at }) => {
      return entry.chain === from && entry.outcome !== 'retrying' && at <= next.at;
    });
    if (!isBetween && !hasEnded) known.violated('I8', `replayed while its replay waits: ${key} chains ${from}, ${to}`);
  }
}

/**
 * Twice only where its process stood still, or was killed, between asking and the publication; or where one that stood still
 * asks as it wakes, before it reads that another owns the recovery.
 */
function recoveredOnce({ known }: World, { key }: Told): void {
  const asked = known.asked.filter((one) => one.key === key);
  for (const [at, again] of asked.entries()) {
    const before = asked.slice(0, at).find(({ recovery }) => recovery === again.recovery);
    if (!before || wasCutOff(known, before) || hasJustWoken(again) || before.isRefused()) continue;
    known.violated('I5', `${again.recovery} asks again, by ${again.by.name} at ${again.at}, for ${key}`);
  }
}

function hasJustWoken({ by, at }: Asked): boolean {
  return by.frozen.some(([, until]) => until <= at && at - until < 500);
}

function wasCutOff(known: Known, { by, at }: Asked): boolean {
  return known.disturbances.some((one) => one.by === by && Math.abs(one.at - at) < 500);
}

/** What had been given up when it started, and stayed so. */
function recovered({ known, account }: World, recovery: string): void {
  const started = known.recoveries.get(recovery);
  const begun = account.events.find(({ type, data }) => type === 'RecoveryStarted' && data.recoveryId === recovery);
  const ended = account.events.find(({ type, data }) => type === 'RecoveryEnded' && data.recoveryId === recovery);
  if (!started || !begun) return;
  const isGone = started.webhookIds.every((id) => !account.webhook(id));
  if (!ended && !isGone) known.violated('I5', `${recovery} does not end`);
  if (ended?.data.state !== 'done') return;
  for (const { id, payment, webhookId } of started.due) {
    const key = `${id} ${payment}`;
    const isWithin = (at: number, slack: number) => at >= started.startedAt - slack && at <= ended.at;
    const isChanged = account.events.some(({ data, at }) => data.webhookId === webhookId && isWithin(at, 8_000));
    const isAttempted = known.attempts.some((attempt) => attempt.key === key && isWithin(attempt.at, 4_000));
    if (isChanged || isAttempted || known.requestedWithin(id, payment, started.startedAt - 2_000, ended.at)) continue;
    known.violated('I5', `${recovery} is done and has left out ${key}`);
  }
}

function agree({ known, apis, kernel, topics, said }: World, rows: Rows): void {
  const shuffled = new Rows(said);
  const all = (['requests', 'deliveries'] as const).flatMap((topic) =>
    topics.all(TOPICS[topic]).map((record) => [topic, record] as const),
  );
  for (let left = [...all, ...all]; left.length > 0; ) {
    const [[topic, record] = all[0] as (typeof all)[number]] = left.splice(kernel.between(0, left.length - 1), 1);
    shuffled.add(topic as ViewTopic, record);
  }
  for (const key of rows.all.keys()) {
    const outcomes = [...apis.map(({ view }) => view.rows), shuffled, rows].map((one) => one.outcome(key));
    if (new Set(outcomes).size > 1) known.violated('I6', `views say ${outcomes.join(', ')}: ${key}`);
  }
}

function bounded({ known, dispatchers, mostRemembered }: World): void {
  if (mostRemembered === undefined) return;
  for (const one of dispatchers) {
    const remembered = known.remembered(one);
    if (remembered > mostRemembered) known.violated('I9', `${one.name} remembers ${remembered} deliveries`);
  }
}
