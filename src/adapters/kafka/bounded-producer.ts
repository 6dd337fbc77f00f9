/**
 * A producer that ends every send. kafkajs waits 30 s for an answer and then sends the same again, five times over: on a
 * Kafka that was stopped, a send was rejected after 192 s, and when Kafka went on its record stood in the log six times.
 * Here a send is given up before kafkajs repeats what had no answer. Other failures it repeats as ever, within that time.
 */
import kafkajs, { type Kafka, type Message, type Producer } from 'kafkajs';
import { RecordTooLarge } from '../../ports/broker.js';
import { withinTime } from '../common/time-limit.js';
import { translated } from './kafka-errors.js';
import { disconnectAfter } from './let-go.js';
import type { KafkaLimits } from './limits.js';

const ALL_REPLICAS = -1;

interface Live {
  readonly producer: Producer;
  readonly connected: Promise<void>;
  /** Those that are not settled. */
  readonly sends: Set<Promise<unknown>>;
}

export class BoundedProducer {
  readonly #kafka: Kafka;
  readonly #limits: KafkaLimits;
  /** Whatever kafkajs still does with them, they are not sent once more. */
  readonly #givenUp = new WeakSet<Message>();
  #live: Live | null = null;

  constructor(kafka: Kafka, limits: KafkaLimits) {
    this.#kafka = kafka;
    this.#limits = limits;
  }

  /** Fulfilled when all replicas have the messages; rejected within answerMs, its connection included. @throws errors of the port */
  async send(topic: string, messages: Message[]): Promise<void> {
    this.#live ??= this.#connect();
    const live = this.#live;
    try {
      await withinTime(this.#limits.answerMs, this.#sendOn(live, topic, messages));
    } catch (error) {
      const failure = translated(error);
      if (failure instanceof RecordTooLarge) throw failure;
      for (const message of messages) this.#givenUp.add(message);
      void this.#letGo(live);
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

  /** kafkajs asks for the partition before each of its tries: the only place where they can be ended. */
  #partitioner(): ReturnType<typeof kafkajs.Partitioners.DefaultPartitioner> {
    const partitionOf = kafkajs.Partitioners.DefaultPartitioner();
    return (about) => {
      if (this.#givenUp.has(about.message)) throw new kafkajs.KafkaJSNonRetriableError('the send was abandoned');
      return partitionOf(about);
    };
  }

  /**
   * Hazard: a producer of kafkajs whose first connection had no answer takes itself for connected from then on, and fails
   * every send until that connection breaks. So after a failure the next send has a new one.
   */
  async #letGo(live: Live): Promise<void> {
    if (this.#live !== live) return;
    this.#live = null;
    await disconnectAfter([live.connected, ...live.sends], live.producer);
  }
}
