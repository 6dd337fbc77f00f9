/**
 * A URL that hangs and has a backlog, beside a healthy URL of the same account, on the embedded default.
 * HANGING_RECORDS and HANGING_BYTES: length of the backlog and size of each record. HANGING_SECONDS: how long the
 * healthy URL is watched. HANGING_TIMEOUT: an attempt's deadline.
 */
import { readFileSync } from 'node:fs';
import { setInterval as every } from 'node:timers/promises';
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { RecordLog } from '../../src/adapters/sqlite/record-log.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { progressIn } from '../../src/delivery/delivery-progress.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { patience } from '../runner/patience.js';
import { eventually } from '../support/eventually.js';
import { reportCounts } from '../support/fault-counts.js';
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.js';
import { type Service, type Settings, serve } from '../support/service.js';
import { addWebhook, installation, register, tokenFor } from '../support/story.js';
import { inFull } from '../support/thorough.js';

const RECORDS = Number(process.env.HANGING_RECORDS ?? inFull(5_000, 1_500));
const SECONDS = Number(process.env.HANGING_SECONDS ?? inFull(14, 7));
const DELIVERY_TIMEOUT = process.env.HANGING_TIMEOUT ?? inFull('8s', '4s');
const BYTES = Number(process.env.HANGING_BYTES ?? 800);
const ACCOUNT = 42;
const HEALTHY = 'payment-events';
/** A separate topic: within one topic a record comes after all records published before it, whatever their URL. */
const BACKLOG = 'backlog';
const PER_SECOND = 50;
/** Records per publication: small, otherwise the healthy ones would wait for the disk before they are published. */
const BATCH = Math.ceil(200_000 / (BYTES + 200));
/** An event that waited for an attempt at the hanging URL would exceed this; a busy machine does not. */
const DELAYED_MS = 5_000;
const MOST_MIB = 400;

jest.setTimeout((120 + 4 * SECONDS) * 1_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

test(`${RECORDS} records due to a URL that hangs hold up no other, do not fill the memory, and none is lost`, async () => {
  const { healthy, hanging, service, settings } = await story();
  const file = openStore(settings);
  const broker = new SqliteBroker(file);
  cleanups.push(() => broker.close());
  const alone = await latencies(broker, healthy, { name: 'alone', seconds: SECONDS / 3 });
  const [beside] = await Promise.all([
    latencies(broker, healthy, { name: 'beside', seconds: SECONDS }),
    publishBacklog(broker),
  ]);
  await eventually(() => hanging.requests.length > 1, {
    timeout: 30_000,
    message: 'its first attempt did not time out',
  });
  const memory = peakMib(service);
  expect(await service.stop('SIGTERM')).toBe(0);
  const { events, published } = paymentsInTopics(file, BACKLOG);
  const [p99Alone, p99Beside] = [p99(alone), p99(beside)];
  const lost = Array.from({ length: RECORDS }, (_, n) => `due-${n}`).filter((id) => !events.has(id));
  const times = `p99 of a healthy one ${p99Alone} ms alone, ${p99Beside} ms beside it`;
  const seen = `${hanging.requests.length} attempts, ${times}, at most ${memory} MiB`;
  const what = `a URL that hangs, with ${RECORDS} due to it: ${seen}`;
  reportCounts({ what, pairs: RECORDS, lost: lost.length, sentTwice: null }, ` ${JSON.stringify(published)}`);
  expect(lost).toEqual([]);
  expect(p99Beside).toBeLessThan(p99Alone + DELAYED_MS * patience());
  expect(memory).toBeLessThan(MOST_MIB);
});

/** The service, with one webhook at a URL that responds and one at a URL that hangs. */
async function story() {
  const healthy = await startReceiver();
  const hanging = await startReceiver({ respond: () => 'hang' });
  cleanups.push(healthy.close, hanging.close);
  const { settings: common, remove } = await installation([healthy, hanging]);
  cleanups.push(remove);
  const settings = {
    ...common,
    DELIVERY_TIMEOUT,
    RETRY_SCHEDULE: '5s,5m,30m',
    PAYMENT_TOPICS: `${HEALTHY},${BACKLOG}`,
  };
  const service = await serve(settings);
  cleanups.push(() => service.stop('SIGKILL'));
  const token = await tokenFor(service.url, await register(settings, ACCOUNT));
  await addWebhook(service.url, token, { url: healthy.url, eventType: 'cash_in' });
  await addWebhook(service.url, token, { url: hanging.url, eventType: 'cash_out' });
  return { healthy, hanging, service, settings };
}

function openStore({ DATA_DIR = '' }: Settings): StoreFile {
  const file = new StoreFile(DATA_DIR);
  cleanups.push(() => file.close());
  return file;
}

/** Publishes PER_SECOND events to the healthy URL until the time is over. @returns each event's latency, ms */
async function latencies(
  broker: SqliteBroker,
  { requests }: Receiver,
  { name, seconds }: { name: string; seconds: number },
): Promise<number[]> {
  const published = new Map<string, number>();
  const before = requests.length;
  for await (const _ of every(1_000 / PER_SECOND)) {
    const id = `${name}-${published.size}`;
    published.set(id, Date.now());
    await broker.publish(HEALTHY, [payment(id, 'cash_in')]);
    if (published.size >= seconds * PER_SECOND) break;
  }
  await eventually(() => requests.length - before >= published.size, {
    timeout: 30_000,
    message: 'some did not arrive',
  });
  return requests.slice(before).map((request) => request.at - (published.get(idOf(request)) ?? Number.NaN));
}

async function publishBacklog(broker: SqliteBroker): Promise<void> {
  for (let n = 0; n < RECORDS; n += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, RECORDS - n) }, (_, index) =>
      payment(`due-${n + index}`, 'cash_out', BYTES),
    );
    await broker.publish(BACKLOG, batch);
  }
}

function payment(id: string, type: string, bytes = 0) {
  const data = { amount: '10.00', filling: 'x'.repeat(bytes) };
  const value = Buffer.from(JSON.stringify({ id, type, accountId: ACCOUNT, data }));
  return { key: Buffer.from(String(ACCOUNT)), value, headers: [] };
}

function idOf({ body }: ReceivedRequest): string {
  return (JSON.parse(body.toString()) as { id: string }).id;
}

function p99(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.ceil(0.99 * times.length) - 1] ?? Number.NaN;
}

/** Peak resident memory; 0 if the system does not report it. */
function peakMib({ pid }: Service): number {
  if (process.platform !== 'linux') return 0;
  const [, kib = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1024);
}

const GROUP = 'account-webhooks';
const DELIVERIES = 'webhooks.deliveries';
const TIERS = /^webhooks\.(retry|deferred)\./;
const PAGE = 1_000;

interface PaymentsInTopics {
  /** Events that have ended, wait in a tier, or are still unconsumed, according to the records that are not done. */
  readonly events: ReadonlySet<string>;
  /** Number of records ever published to each topic. */
  readonly published: Readonly<Record<string, number>>;
}

function paymentsInTopics(file: StoreFile, payments: string): PaymentsInTopics {
  const log = new RecordLog(file);
  const events = new Set<string>();
  const tiers = log.topics().filter((topic) => TIERS.test(topic));
  const waiting = tiers.flatMap((topic) => [...records(log, topic, log.committed(`${GROUP}.retry`, topic) ?? 0)]);
  for (const record of waiting) events.add(progressIn(record)?.eventId ?? '');
  for (const record of records(log, payments, log.committed(GROUP, payments) ?? 0)) events.add(jsonOf(record).id);
  for (const record of records(log, DELIVERIES, 0)) {
    const { eventId, outcome } = jsonOf(record);
    if (outcome !== 'retrying') events.add(eventId);
  }
  return { events, published: Object.fromEntries(log.topics().map((topic) => [topic, log.end(topic)])) };
}

function* records(log: RecordLog, topic: string, from: number): Iterable<ReceivedRecord> {
  for (let next = from; ; ) {
    const { page, atEnd, next: behind } = log.page(topic, next, PAGE);
    for (const record of page) if ('offset' in record) yield record;
    if (atEnd) return;
    next = behind;
  }
}

function jsonOf({ value }: ReceivedRecord): { id: string; eventId: string; outcome: string } {
  return JSON.parse(String(value));
}
