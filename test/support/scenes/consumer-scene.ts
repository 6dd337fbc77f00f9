/** A KafkaConsumer of the topics t and u, over a Kafka whose answers are a test's. */
import { KafkaConsumer } from '../../../src/adapters/kafka/consumer.js';
import type { KafkaConsumerParts } from '../../../src/adapters/kafka/group-client.js';
import type { TopicAdmin } from '../../../src/adapters/kafka/topic-admin.js';
import { BrokerUnavailable, type ReceivedRecord } from '../../../src/ports/broker.js';
import { eventually } from '../clocks/eventually.js';
import { FakeKafkaClient } from '../servers/fake-kafka-client.js';
import { recordingLogger } from './recording-logger.js';

/** The offset of a record that is due in an hour. */
export const NOT_DUE = 1_000;

export class ConsumerScene {
  readonly client = new FakeKafkaClient();
  readonly consumer: KafkaConsumer;
  readonly handled: ReceivedRecord[] = [];
  readonly logger = recordingLogger();
  /** The topics of each question where the group stands. */
  readonly asked: string[][] = [];
  readonly ensured: string[] = [];
  /** Where the group stands, by topic. */
  readonly starts = new Map([
    ['t', 5],
    ['u', 0],
  ]);
  /** Its committed offset, where it is not that. */
  readonly committed: Record<string, { committed: number | null }> = {};
  readonly leaderless = new Set<string>();
  oldest = 0;
  /** What Kafka's answers with the group's offsets wait for. */
  answers = Promise.resolve();
  rejects: (record: ReceivedRecord) => boolean = () => false;

  static async begin(more: Pick<KafkaConsumerParts, 'stuckMs'> = {}): Promise<ConsumerScene> {
    const scene = new ConsumerScene(more);
    await scene.consumer.start();
    return scene;
  }

  private constructor(more: Pick<KafkaConsumerParts, 'stuckMs'>) {
    const admin = {
      groupStart: (_group: string, topics: readonly string[]) => this.#groupStart(topics),
      extent: async () => new Map([[0, { first: this.oldest, next: 100 }]]),
      ensureAgain: async (topics: readonly string[]) => void this.ensured.push(`ensure ${topics}`),
    } as unknown as TopicAdmin;
    const limits = { sessionTimeoutMs: 6_000, refusedAgainMs: 250 };
    const parts = { kafka: this.client.kafka, admin, ...limits, logger: this.logger, ...more };
    const handle = async (record: ReceivedRecord) => {
      this.handled.push(record);
      if (this.rejects(record)) throw new Error('rejected');
    };
    const accept = ({ offset }: ReceivedRecord) => {
      return { notBefore: offset === NOT_DUE ? Date.now() + 3_600_000 : 0, handle };
    };
    this.consumer = new KafkaConsumer(parts, { topics: ['t', 'u'], group: 'g', inFlight: 10, accept });
  }

  /** What was committed, as in 't 10', by commit. */
  get offsets(): readonly (readonly string[])[] {
    return this.client.commits.map((commit) => commit.map(({ topic, offset }) => `${topic} ${offset}`));
  }

  get seeks(): readonly string[] {
    return this.client.calls.filter((call) => call.startsWith('seek'));
  }

  /** Has t, and fetches it from where the group stands. */
  async joined(): Promise<void> {
    await this.client.join({ t: [0] });
    await this.called('seek t 5');
  }

  async called(call: string): Promise<void> {
    await eventually(() => this.client.calls.includes(call));
  }

  async #groupStart(topics: readonly string[]) {
    this.asked.push([...topics]);
    await this.answers;
    if (topics.some((topic) => this.leaderless.has(topic))) throw new BrokerUnavailable('no leader');
    const known = topics.filter((topic) => this.starts.has(topic));
    const startOf = (topic: string) => ({
      offset: this.starts.get(topic),
      committed: this.starts.get(topic),
      ...this.committed[topic],
    });
    return new Map(known.map((topic) => [topic, new Map([[0, startOf(topic)]])]));
  }
}
