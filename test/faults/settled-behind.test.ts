/** A retry that hangs keeps the offset of its tier back: what settled behind it must not go out again after kill -9. */
import kafkajs from 'kafkajs';
import { decodedBehind } from '../../src/adapters/common/done-behind.js';
import { RecordLog } from '../../src/adapters/sqlite/record-log.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import type { Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones, ENDS } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents, publishEvents } from '../support/scenes/story.js';
import type { ReceivedRequest } from '../support/servers/receiver.js';

/** Fewer failures than open a breaker. */
const EVENTS = 8;
const PATIENCE = { timeout: 60_000 };

interface Read {
  readonly groupId: string;
  readonly topic: string;
}

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  test('what settled behind a hanging retry is sent once, also after kill -9', async () => {
    const seen = new Set<string>();
    const respond = ({ path, headers }: ReceivedRequest) => {
      if (seen.size < seen.add(String(headers['webhook-id'])).size) return { status: 503 };
      return path === '/hangs' ? ('hang' as const) : { status: 200 };
    };
    const settings = {
      // A first attempt that a busy machine cuts off leaves one that is refused, and one that is taken.
      RETRY_SCHEDULE: '500ms,500ms',
      // Longer than a starved machine takes for the test: one attempt hangs from its start to its end.
      DELIVERY_TIMEOUT: '10m',
      KAFKA_PARTITIONS: '1',
    };
    scene = await FaultScene.open(backbone, { respond, settings });
    const { receiver } = scene;
    const service = await scene.serve();
    await scene.account(service, 1, scene.urls('/hangs'));
    await scene.account(service, 2, scene.urls('/works'));
    const at = (path: string) => receiver.requests.filter((request) => request.path === path);
    await publishEvents(scene.settings, paymentEvents(1, 1));
    await eventually(() => at('/hangs').length >= 2, PATIENCE);
    await publishEvents(scene.settings, paymentEvents(2, EVENTS, 'retried-'));
    const taken = () => counted(receiver.taken.map(({ headers }) => String(headers['webhook-id'])));
    await eventually(() => taken().size === EVENTS, PATIENCE);
    // All but the retry that hangs. Without a commit of its first attempt, a delivery starts again.
    await eventually(async () => (await undone(scene.settings)) === 1, PATIENCE);
    await service.stop('SIGKILL');
    const [before, hung] = [taken(), at('/hangs').length];
    await scene.serve();
    await eventually(() => at('/hangs').length > hung, PATIENCE);
    // Its retry comes behind all of theirs.
    await publishEvents(scene.settings, paymentEvents(2, 1, 'last-'));
    await eventually(() => receiver.taken.some(({ body }) => body.includes('last-0')), PATIENCE);
    const after = taken();
    expect(new Map([...before.keys()].map((id) => [id, after.get(id)]))).toEqual(before);
  });
}, ENDS);

function counted(ids: readonly string[]): ReadonlyMap<string, number> {
  return ids.reduce((counts, id) => counts.set(id, (counts.get(id) ?? 0) + 1), new Map<string, number>());
}

/** How many records of payments and of retries are not committed as done. */
async function undone(settings: Settings): Promise<number> {
  const { PAYMENT_TOPICS = 'payment-events', TOPIC_PREFIX = '' } = settings;
  const groupId = `${TOPIC_PREFIX}account-webhooks`;
  const read = [
    { groupId, topic: PAYMENT_TOPICS },
    { groupId: `${groupId}.retry`, topic: `${TOPIC_PREFIX}webhooks.retry.500ms` },
  ];
  const counts = settings.BROKER_URL
    ? undoneOnKafka(settings.BROKER_URL, read)
    : undoneInFile(settings.DATA_DIR ?? '', read);
  return (await counts).reduce((sum, count) => sum + count);
}

function undoneInFile(folder: string, read: readonly Read[]): number[] {
  const file = new StoreFile(folder);
  try {
    const log = new RecordLog(file);
    return read.map(({ groupId, topic }) => {
      const { offset, behind } = log.progress(groupId, topic);
      return log.end(topic) - offset - (behind?.records.size ?? 0);
    });
  } finally {
    file.close();
  }
}

/** NaN for topics whose leader has just changed: Kafka then rejects the request with a retriable error. */
async function undoneOnKafka(url: string, read: readonly Read[]): Promise<number[]> {
  const brokers = [url.replace('kafka://', '')];
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await Promise.all(
      read.map(async ({ groupId, topic }) => {
        const [end] = await admin.fetchTopicOffsets(topic);
        const [of] = await admin.fetchOffsets({ groupId, topics: [topic] });
        const { offset = '0', metadata } = of?.partitions[0] ?? {};
        return (
          Number(end?.offset) - Number(offset) - (decodedBehind(metadata ?? '', Number(offset))?.records.size ?? 0)
        );
      }),
    );
  } catch (error) {
    if ((error as { readonly retriable?: boolean }).retriable) return [Number.NaN];
    throw error;
  } finally {
    await admin.disconnect();
  }
}
