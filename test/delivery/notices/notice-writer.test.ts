import { randomUUID } from 'node:crypto';
import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { type Notice, publishedNotice } from '../../../src/delivery/notices/notice.js';
import { NoticeWriter, type NoticeWriterParts } from '../../../src/delivery/notices/notice-writer.js';
import type { Broker } from '../../../src/ports/broker.js';
import { type EventStore, OtherHistory } from '../../../src/ports/event-store.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { enveloped } from '../../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../../../src/webhooks/events.js';
import { eventually } from '../../support/clocks/eventually.js';
import { AT, added, CONTEXT, LAST_FAILURE, registered } from '../../support/generators/webhook-samples.js';
import { type ReadModel, startReadModel } from '../../support/scenes/read-model-fixture.js';
import { type RecordingLogger, recordingLogger } from '../../support/scenes/recording-logger.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';
import { openSqliteStore } from '../../support/servers/sqlite-store.js';

const TOPIC = 'webhooks.notices';
const ENDPOINT = 'https://shop.example.com/1';
const about = { endpoint: ENDPOINT, since: AT, lastFailure: LAST_FAILURE };
const failing: AccountEvent = { type: 'EndpointFailing', data: { ...about, deactivatesAt: AT, notedAt: AT } };
const announced: AccountEvent = {
  type: 'DeactivationAnnounced',
  data: { ...about, deactivatesAt: AT, announcedAt: AT },
};
const recovered: AccountEvent = { type: 'EndpointRecovered', data: { endpoint: ENDPOINT, since: AT, recoveredAt: AT } };
const switchedOff = (by?: 'service'): AccountEvent => ({
  type: 'WebhookDeactivated',
  data: { webhookId: 1, reason: 'gone', ...(by && { by, lastFailure: LAST_FAILURE }), deactivatedAt: AT },
});

let opened: ReturnType<typeof openSqliteStore>;
let broker: Broker;
let readModel: ReadModel;
let folder: ReturnType<typeof temporaryDirectory>;
let writers: NoticeWriter[];
let revision: number;
let now: number;
let elapsed: number;
let logger: RecordingLogger;

beforeEach(async () => {
  logger = recordingLogger();
  folder = temporaryDirectory();
  opened = openSqliteStore(folder.path);
  broker = new SqliteBroker(opened.file);
  readModel = await startReadModel(opened.store, folder.path);
  writers = [];
  revision = -1;
  now = Date.parse(AT);
  elapsed = 0;
  await append(
    registered(),
    added(1),
    added(2, { url: ENDPOINT, endpoint: ENDPOINT, eventType: 'cash_out' }),
    added(3),
  );
});

afterEach(async () => {
  for (const writer of writers) await writer.close();
  await broker.close();
  await readModel.close();
  await opened.close();
  folder.remove();
});

async function append(...events: AccountEvent[]): Promise<void> {
  ({ revision } = await opened.store.append(accountStream(42), enveloped(events, CONTEXT, randomUUID), revision));
}

function start(changes: Partial<NoticeWriterParts> = {}): NoticeWriter {
  const health = async () =>
    new Map([[1, { lastSuccessAt: null, lastFailure: null, failingSince: null, waiting: 4, held: 2, exhausted: 0 }]]);
  const parts = {
    ...{ broker, store: opened.store },
    accounts: readModel.accounts,
    health,
    now: () => now,
    elapsed: () => elapsed,
    ...changes,
  };
  const writer = new NoticeWriter({ isChosen: () => true, ...parts, topic: TOPIC, logger });
  writers.push(writer);
  writer.start();
  return writer;
}

/** Starts the first writer of an installation, and waits until it has recorded where it begins. */
async function startFirst(changes: Partial<NoticeWriterParts> = {}): Promise<NoticeWriter> {
  const writer = start(changes);
  await eventually(async () => (await positions()).length === 1);
  return writer;
}

async function notices(): Promise<Notice[]> {
  const found: Notice[] = [];
  for await (const { value } of topicRecords(broker, TOPIC)) if (value) found.push(JSON.parse(String(value)) as Notice);
  return found;
}

/** Positions of the topic's records without a notice. */
async function positions(): Promise<string[]> {
  const found: string[] = [];
  for await (const record of topicRecords(broker, TOPIC)) {
    if (record.value === null) found.push(publishedNotice(record)?.position ?? 'none');
  }
  return found;
}

/** Calls `seen` with each position from which a writer follows the store. */
function watched(seen: (after: string | null) => void): NoticeWriterParts['store'] {
  const { store } = opened;
  const subscribe: EventStore['subscribe'] = (options) => {
    seen(options.after);
    return store.subscribe(options);
  };
  return { subscribe, head: () => store.head() };
}

async function untilThereAre(count: number): Promise<Notice[]> {
  await eventually(async () => (await notices()).length >= count);
  return notices();
}

const told = (all: readonly Notice[]) => all.map(({ type, data }) => `${type} ${data.webhookId}`);

test('an account is told of each active webhook of an endpoint, with its counts', async () => {
  await startFirst();
  await append(failing);
  const [first] = await untilThereAre(2);
  expect(first).toEqual({
    ...{ id: expect.stringMatching(/^ntc_[\w-]{27}$/), type: 'webhook_failing', accountId: 42, timestamp: AT },
    data: {
      ...{ webhookId: 1, eventType: 'cash_in', url: 'https://shop.example.com', since: AT, lastFailure: LAST_FAILURE },
      ...{ waiting: 4, held: 2, deactivatesAt: AT, reason: `nothing was delivered since ${AT}` },
    },
  });
  await append(announced, recovered, switchedOff(), switchedOff('service'));
  const all = await untilThereAre(5);
  expect(told(all)).toEqual([
    ...['webhook_failing 1', 'webhook_failing 2', 'webhook_failing 2', 'webhook_recovered 2'],
    ...['webhook_deactivated 1'],
  ]);
});

test('the process that is chosen writes, and goes on where the one before it stopped', async () => {
  let chosen = 0;
  await startFirst({ isChosen: () => chosen === 0 });
  start({ isChosen: () => chosen === 1 });
  await append(failing, recovered);
  await untilThereAre(4);
  chosen = 1;
  await append(failing);
  const all = await untilThereAre(6);
  expect(new Set(all.map(({ id }) => id)).size).toBe(6);
});

test('in another history what was told is not told again', async () => {
  const first = await startFirst();
  await append(failing);
  await untilThereAre(2);
  first.close();
  const subscribe: EventStore['subscribe'] = (options) => {
    if (options.after !== null) throw new OtherHistory('lacks an event');
    return opened.store.subscribe(options);
  };
  start({ store: { subscribe, head: () => opened.store.head() } });
  await append(recovered);
  expect(told(await untilThereAre(4))).toEqual([
    ...['webhook_failing 1', 'webhook_failing 2', 'webhook_recovered 1', 'webhook_recovered 2'],
  ]);
});

describe('the part of the history that is read', () => {
  test('begins at the head of the store at the first start of an installation', async () => {
    await append(failing);
    const head = await opened.store.head();
    const followed: (string | null)[] = [];
    await startFirst({ store: watched((after) => followed.push(after)) });
    await append(recovered);
    expect(told(await untilThereAre(2))).toEqual(['webhook_recovered 1', 'webhook_recovered 2']);
    expect({ followed, positions: await positions() }).toEqual({ followed: [head], positions: [head] });
  });

  test('begins at the position recorded within the last hour, even if no account was notified', async () => {
    const first = await startFirst();
    elapsed = 3_600_000;
    await append(added(4));
    await eventually(async () => (await positions()).length === 2);
    await first.close();
    const [, recorded] = await positions();
    const followed: (string | null)[] = [];
    start({ store: watched((after) => followed.push(after)) });
    await append(failing);
    await untilThereAre(2);
    expect(followed).toEqual([recorded]);
    expect(await positions()).toHaveLength(2);
  });
});
