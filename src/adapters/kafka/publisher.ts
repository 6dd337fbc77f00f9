/**
 * Publishes in batches: while one send to a topic is in progress, further records queue up for the next send. Measured:
 * 4,000/s with one record per send, 30,000/s and more with batches of 100.
 */
import kafkajs, { type Kafka, type Message, type Producer, type RecordMetadata } from 'kafkajs';
import { BrokerRefused, BrokerUnavailable, type NewRecord, RecordRefused } from '../../ports/broker.js';
import { withinTime } from '../common/time-limit.js';
import type { KafkaLimits } from './admin-session.js';
import { disconnectAfter } from './cluster-client.js';
import { failedSend } from './kafka-errors.js';
import { withLastFailure } from './kafkajs-repairs/sockets.js';
import { BATCH_BYTES, sizeOf, toMessage } from './records.js';

const BATCH_RECORDS = 1_000;
/** Sends still in progress then are abandoned: an orderly stop has awaited them before. */
const CLOSE_WITHIN_MS = 1_000;
const ALL_REPLICAS = -1;

interface QueuedRecord {
  readonly record: NewRecord;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: Error) => void;
}

export class Publisher {
  readonly #producer: BoundedProducer;
  readonly #queues = new Map<string, QueuedRecord[]>();
  readonly #sending = new Set<Promise<void>>();

  constructor(kafka: Kafka, limits: KafkaLimits) {
    this.#producer = new BoundedProducer(kafka, limits);
  }

  /** @returns the records' offsets, in their order @throws errors of the port, in bounded time */
  async publish(topic: string, records: readonly NewRecord[]): Promise<readonly number[]> {
    const queue = this.#queues.get(topic) ?? [];
    const enqueue = (record: NewRecord) =>
      new Promise<number>((resolve, reject) => void queue.push({ record, resolve, reject }));
    const outcomes = Promise.allSettled(records.map(enqueue));
    if (!this.#queues.has(topic)) {
      this.#queues.set(topic, queue);
      const sending = this.#sendAll(topic, queue);
      this.#sending.add(sending);
      void sending.then(() => this.#sending.delete(sending));
    }
    // Not at the first refusal: nothing of this call is under way once it rejects.
    return (await outcomes).map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.#sending).then(() => this.#producer.close());
    await withinTime(CLOSE_WITHIN_MS, closed).catch(() => undefined);
  }

  /** Until the topic's queue is empty; never rejects. */
  async #sendAll(topic: string, queue: QueuedRecord[]): Promise<void> {
    while (queue.length > 0) {
      const failure = await this.#send(topic, firstBatch(queue));
      // The queued ones would fail one after the other, each as late as this one.
      if (failure) reject(queue.splice(0), failure);
    }
    this.#queues.delete(topic);
  }

  /** Never rejects. @returns an error that affects the queued ones too */
  async #send(topic: string, batch: readonly QueuedRecord[]): Promise<Error | null> {
    try {
      const messages = batch.map(({ record }) => toMessage(record));
      const offsets = await this.#producer.send(topic, messages);
      for (const [n, { resolve }] of batch.entries()) resolve(offsets[n] as number);
      return null;
    } catch (error) {
      if (error instanceof RecordRefused && batch.length > 1) return this.#sendEach(topic, batch);
      reject(batch, error as Error);
      return error instanceof RecordRefused ? null : (error as Error);
    }
  }

  /** One refused record rejects its whole batch: so each is sent alone. */
  async #sendEach(topic: string, batch: readonly QueuedRecord[]): Promise<Error | null> {
    for (const [n, queued] of batch.entries()) {
      const failure = await this.#send(topic, [queued]);
      if (!failure) continue;
      reject(batch.slice(n + 1), failure);
      return failure;
    }
    return null;
  }
}

/** Takes as many records from the queue as fit one batch, at least one. */
function firstBatch(queue: QueuedRecord[]): QueuedRecord[] {
  let bytes = 0;
  const end = queue.findIndex(({ record }, n) => {
    bytes += sizeOf(record);
    return n > 0 && (n >= BATCH_RECORDS || bytes > BATCH_BYTES);
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

function reject(records: readonly QueuedRecord[], failure: Error): void {
  for (const queued of records) queued.reject(failure);
}

interface Live {
  readonly producer: Producer;
  readonly connected: Promise<void>;
  readonly sends: Set<Promise<unknown>>;
}

/**
 * Gives up a send before kafkajs repeats an unanswered request (five times over: see kafkajs-repairs/README.md). kafkajs
 * still retries other failures, within that time.
 */
class BoundedProducer {
  readonly #kafka: Kafka;
  readonly #limits: KafkaLimits;
  /** Messages that kafkajs must not send again. */
  readonly #givenUp = new WeakSet<Message>();
  /** Hazard: at a retry kafkajs sends nothing more to a leader that has answered; so a message stays in its partition. */
  readonly #partitions = new WeakMap<Message, number>();
  #live: Live | null = null;

  constructor(kafka: Kafka, limits: KafkaLimits) {
    this.#kafka = kafka;
    this.#limits = limits;
  }

  /**
   * Fulfilled when all replicas have them; rejected within answerMs, connecting included.
   * @returns their offsets @throws errors of the port
   */
  async send(topic: string, messages: Message[]): Promise<readonly number[]> {
    this.#live ??= this.#connect();
    const live = this.#live;
    const begunAt = performance.now();
    try {
      const answer = await withinTime(this.#limits.answerMs, this.#sendOn(live, topic, messages));
      return this.#offsetsOf(messages, answer);
    } catch (error) {
      const failure = failedSend(withLastFailure(error, this.#kafka, begunAt));
      if (failure instanceof RecordRefused) throw failure;
      for (const message of messages) this.#givenUp.add(message);
      void this.#letGo(live);
      if (failure instanceof BrokerRefused)
        throw new BrokerRefused(`${failure.message}: to write to ${topic}`, { cause: error });
      throw failure;
    }
  }

  async close(): Promise<void> {
    if (this.#live) await this.#letGo(this.#live);
  }

  #sendOn({ producer, connected, sends }: Live, topic: string, messages: Message[]): Promise<RecordMetadata[]> {
    const connecting = withinTime(this.#limits.connectMs, connected);
    const sending = connecting.then(() => producer.send({ topic, acks: ALL_REPLICAS, messages }));
    sends.add(sending);
    const settled = () => void sends.delete(sending);
    sending.then(settled, settled);
    return sending;
  }

  /** Kafka numbers a batch's records of one partition in their order. @throws BrokerUnavailable */
  #offsetsOf(messages: readonly Message[], answer: readonly RecordMetadata[]): readonly number[] {
    const next = new Map(answer.map(({ partition, baseOffset }) => [partition, Number(baseOffset)]));
    return messages.map((message) => {
      const partition = this.#partitions.get(message) ?? -1;
      const offset = next.get(partition) ?? Number.NaN;
      // A retry found the partition at a leader that had answered for others: nothing was sent to it.
      if (!(offset >= 0)) throw new BrokerUnavailable(`Kafka did not confirm records in partition ${partition}`);
      next.set(partition, offset + 1);
      return offset;
    });
  }

  #connect(): Live {
    const createPartitioner = () => this.#partitioner();
    const producer = this.#kafka.producer({ createPartitioner, allowAutoTopicCreation: false });
    return { producer, connected: producer.connect(), sends: new Set() };
  }

  /** kafkajs calls the partitioner before each attempt: the only place to stop a retry. */
  #partitioner(): ReturnType<typeof kafkajs.Partitioners.DefaultPartitioner> {
    const partitionOf = kafkajs.Partitioners.DefaultPartitioner();
    return (about) => {
      if (this.#givenUp.has(about.message)) throw new kafkajs.KafkaJSNonRetriableError('the send was abandoned');
      const partition = this.#partitions.get(about.message) ?? partitionOf(about);
      this.#partitions.set(about.message, partition);
      return partition;
    };
  }

  /** The next send uses a new producer. Hazard: one whose first connection got no answer believes it is connected. */
  async #letGo(live: Live): Promise<void> {
    if (this.#live !== live) return;
    this.#live = null;
    await disconnectAfter([live.connected, ...live.sends], live.producer);
  }
}
