/**
 * A producer that bounds every send. kafkajs waits 30 s for an answer and then repeats the request, five times over: on a
 * stopped Kafka a send was rejected after 192 s, and when Kafka resumed its record was in the log six times. Here a send is
 * given up before kafkajs repeats an unanswered request. kafkajs still retries other failures, within that time.
 */
import kafkajs, { type Kafka, type Message, type Producer } from 'kafkajs';
import { BrokerRefused, RecordRefused } from '../../../ports/broker.js';
import { withinTime } from '../../common/time-limit.js';
import { disconnectAfter } from '../cluster-client.js';
import { failedSend } from '../kafka-errors.js';
import type { KafkaLimits } from '../limits.js';
import { withLastFailure } from './sockets.js';

const ALL_REPLICAS = -1;

interface Live {
  readonly producer: Producer;
  readonly connected: Promise<void>;
  /** The unsettled sends. */
  readonly sends: Set<Promise<unknown>>;
}

export class BoundedProducer {
  readonly #kafka: Kafka;
  readonly #limits: KafkaLimits;
  /** Messages that kafkajs must not send again. */
  readonly #givenUp = new WeakSet<Message>();
  #live: Live | null = null;

  constructor(kafka: Kafka, limits: KafkaLimits) {
    this.#kafka = kafka;
    this.#limits = limits;
  }

  /**
   * Fulfilled when all replicas have the messages; rejected within answerMs, connecting included.
   * @throws errors of the port
   */
  async send(topic: string, messages: Message[]): Promise<void> {
    this.#live ??= this.#connect();
    const live = this.#live;
    const begunAt = performance.now();
    try {
      await withinTime(this.#limits.answerMs, this.#sendOn(live, topic, messages));
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

  #sendOn({ producer, connected, sends }: Live, topic: string, messages: Message[]): Promise<unknown> {
    const connecting = withinTime(this.#limits.connectMs, connected);
    const sending = connecting.then(() => producer.send({ topic, acks: ALL_REPLICAS, messages }));
    sends.add(sending);
    const settled = () => void sends.delete(sending);
    sending.then(settled, settled);
    return sending;
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
      return partitionOf(about);
    };
  }

  /**
   * Hazard: if a kafkajs producer's first connection gets no answer, the producer considers itself connected from then on,
   * and every send fails until that connection breaks. So the next send after a failure uses a new producer.
   */
  async #letGo(live: Live): Promise<void> {
    if (this.#live !== live) return;
    this.#live = null;
    await disconnectAfter([live.connected, ...live.sends], live.producer);
  }
}
