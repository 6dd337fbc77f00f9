import { TierDiscovery } from '../../../src/delivery/retry/tier-discovery.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import { BrokerUnavailable, type Consumer } from '../../../src/ports/broker.js';
import { eventually } from '../../support/clocks/eventually.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';
import { RecordingBroker } from '../../support/servers/recording-broker.js';

const OWN = 'a.webhooks.retry.5s';
const FOREIGN = 'a.webhooks.retry.2h';
const EMPTY = { key: null, value: null, headers: [] };

class FakeConsumer implements Consumer {
  readonly closed: Promise<void>;
  die: (error: Error) => void = () => undefined;
  isClosed = false;
  #end: () => void = () => undefined;

  constructor() {
    this.closed = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.die = reject;
    });
  }

  stop(): void {}
  isOwner = () => true;
  state = () => ({ connected: true, inHand: 0, partitions: [] });

  async close(): Promise<void> {
    this.isClosed = true;
    this.#end();
  }
}

let broker: RecordingBroker;
let stopping: AbortController;
let discovery: TierDiscovery;
/** Tiers of each started consumer. */
let asked: (readonly string[])[];
let started: FakeConsumer[];
let refusal: Error | null;
/** Called while a consumer starts. */
let release: () => void;
let running: Promise<void>;
/** Each pause between two looks, ms. */
let pauses: number[];
let lookAgain: () => void;

beforeEach(async () => {
  pauses = [];
  release = lookAgain = () => undefined;
  broker = new RecordingBroker();
  stopping = new AbortController();
  [asked, started, refusal] = [[], [], null];
  const consume = async (tiers: readonly string[]) => {
    asked.push(tiers);
    release();
    if (refusal) throw refusal;
    const consumer = new FakeConsumer();
    started.push(consumer);
    return consumer;
  };
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      pauses.push(ms);
      lookAgain = resolve;
    });
  const topics = topicsOf(['payment-events'], 'a.');
  discovery = new TierDiscovery({ broker, topics, group: 'g', logger: recordingLogger(), consume, pause }, [OWN]);
  for (const topic of [OWN, 'webhooks.retry.1s', 'a.webhooks.retry.notes', 'a.webhooks.requests'])
    await broker.publish(topic, [EMPTY]);
});
afterEach(async () => {
  stopping.abort();
  lookAgain();
  await running;
});

/** Returns after the first look. */
async function run(): Promise<void> {
  running = discovery.run(60_000, stopping.signal);
  await eventually(() => pauses.length === 1);
}

async function look(): Promise<void> {
  const { length } = pauses;
  lookAgain();
  await eventually(() => pauses.length > length);
}

const unread = () => Object.fromEntries(discovery.unread);

describe('the discovery of tiers', () => {
  it('reads a tier of its prefix that appears later, and no other topic', async () => {
    await run();
    for (let n = 0; n < 8; n += 1) await look();
    expect([asked, pauses.at(-1)]).toEqual([[], 60_000]);
    await broker.publish(FOREIGN, [EMPTY]);
    await look();
    expect(asked).toEqual([[FOREIGN]]);
    expect(unread()).toEqual({ [OWN]: 0, [FOREIGN]: 0 });
    expect(discovery.consumers).toEqual(started);
    await look();
    expect(asked).toHaveLength(1);
  });

  it('reports the records of a tier that it cannot read, and tries again', async () => {
    await broker.publish(FOREIGN, [EMPTY, EMPTY]);
    refusal = new BrokerUnavailable('not now');
    await run();
    expect(unread()).toEqual({ [OWN]: 0, [FOREIGN]: 2 });
    refusal = null;
    await look();
    expect(unread()).toEqual({ [OWN]: 0, [FOREIGN]: 0 });
  });

  it('replaces the consumer of a tier if it died', async () => {
    await broker.publish(FOREIGN, [EMPTY]);
    await run();
    started[0]?.die(new Error('no permission to read it'));
    await look();
    expect(asked).toEqual([[FOREIGN], [FOREIGN]]);
    expect(discovery.consumers).toEqual([started[1]]);
  });

  it('closes a consumer that started after the dispatcher was told to close', async () => {
    await broker.publish(FOREIGN, [EMPTY]);
    release = () => stopping.abort();
    running = discovery.run(60_000, stopping.signal);
    await running;
    expect(started.map(({ isClosed }) => isClosed)).toEqual([true]);
  });
});
