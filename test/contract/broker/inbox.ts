/** What the cases of the broker begin with: records, and a consumer that writes down what it is called with. */
import {
  type Broker,
  BrokerUnavailable,
  type ConsumeOptions,
  type Consumer,
  type NewRecord,
  type ReceivedRecord,
  type RecordHold,
} from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { type ContractCase, collect, type Feature, type Subject, soon, unique, within } from '../contract.js';

export type BrokerSubject = Subject<Broker>;
export type BrokerCase = ContractCase<BrokerSubject>;

export const KEY = 'key';

export function record(text: string, key: string = KEY): NewRecord {
  return { key: Buffer.from(key), value: Buffer.from(text), headers: [] };
}

export const records = (texts: readonly string[], key?: string) => texts.map((text) => record(text, key));
export const textOf = ({ value }: NewRecord) => String(value);
export const texts = (of: readonly NewRecord[]) => of.map(textOf);
export const named = (count: number, name = '') => Array.from({ length: count }, (_, number) => `${name}${number}`);

/** @param call 1 where it is the first with this record */
export type Handle = (record: ReceivedRecord, call: number, hold: RecordHold) => unknown;

export class Inbox {
  /** Every call of the handler, in order. */
  readonly calls: ReceivedRecord[] = [];
  readonly done: ReceivedRecord[] = [];
  unsettled = 0;
  mostUnsettled = 0;
  readonly #handle: Handle;
  readonly #counts = new Map<string, number>();

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  readonly handler = async (received: ReceivedRecord, hold: RecordHold): Promise<void> => {
    this.calls.push(received);
    this.unsettled += 1;
    this.mostUnsettled = Math.max(this.mostUnsettled, this.unsettled);
    try {
      await this.#handle(received, this.#count(placeOf(received)), hold);
      this.done.push(received);
    } finally {
      this.unsettled -= 1;
    }
  };

  /** The first call with each record, in order. */
  get firstCalls(): ReceivedRecord[] {
    const places = new Set<string>();
    return this.calls.filter((call) => places.size < places.add(placeOf(call)).size);
  }

  #count(place: string): number {
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    return count;
  }
}

export const placeOf = ({ topic, partition, offset }: ReceivedRecord) => `${topic}/${partition}/${offset}`;

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export interface ConsumeAs extends Partial<Omit<ConsumeOptions, 'accept'>> {
  readonly broker?: Broker;
  readonly handle?: Handle;
  /** Called as the record is accepted. */
  readonly notBefore?: (record: ReceivedRecord) => number;
}

export interface Consumed {
  readonly inbox: Inbox;
  readonly consumer: Consumer;
}

/** One case's view of the broker: a topic and a group of its own, and gates that are open at its end. */
export class Scenario {
  readonly topic = unique('topic');
  readonly group = unique('group');
  readonly #gates: Gate[] = [];

  constructor(readonly subject: BrokerSubject) {}

  get broker(): Broker {
    return this.subject.port;
  }

  publish(names: readonly string[], topic = this.topic): Promise<readonly number[]> {
    return this.within('publish did not end', this.broker.publish(topic, records(names)));
  }

  /** Again while the broker is unavailable: a busy machine exceeds the time in which a person gets an answer. */
  async read(partition: number, offset: number, topic = this.topic): Promise<ReceivedRecord | null> {
    const { result } = await this.soon('read did not succeed', () =>
      this.broker.read(topic, partition, offset).then(
        (result) => ({ result }),
        (error: unknown) => {
          if (error instanceof BrokerUnavailable) return null;
          throw error;
        },
      ),
    );
    return result;
  }

  browse(topic = this.topic, broker = this.broker): Promise<ReceivedRecord[]> {
    return this.within('browse did not end', collect(topicRecords(broker, topic)));
  }

  async consume({
    broker = this.broker,
    handle = () => undefined,
    notBefore = () => 0,
    ...options
  }: ConsumeAs = {}): Promise<Consumed> {
    const inbox = new Inbox(handle);
    const defaults = { topics: [this.topic], group: this.group, inFlight: 10 };
    const accept = (record: ReceivedRecord) => ({ notBefore: notBefore(record), handle: inbox.handler });
    const consuming = broker.consume({ ...defaults, ...options, accept });
    return { inbox, consumer: await this.within('consume did not end', consuming) };
  }

  /** Fulfilled when a group of its own was handed everything: by then the others could have been, too. */
  async witness(count: number, options: ConsumeAs = {}): Promise<void> {
    const { inbox, consumer } = await this.consume({ group: unique('witness'), inFlight: 100, ...options });
    await this.soon('the witness missed records', () => inbox.done.length >= count);
    await consumer.close();
  }

  /** Fulfilled when a rejected record has come again so often that its like in another group has, too. */
  async witnessOfPauses(calls: number): Promise<void> {
    const topic = unique('pauses');
    await this.publish(['rejected'], topic);
    const handle: Handle = (_, call) => (call < calls ? Promise.reject(new Error('again')) : undefined);
    await this.witness(1, { topics: [topic], handle });
  }

  gate(): Gate {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const gate = { opened, open };
    this.#gates.push(gate);
    return gate;
  }

  soon<T>(message: string, condition: () => T | Promise<T>) {
    return soon(this.subject, message, condition);
  }

  within<T>(message: string, promise: Promise<T>): Promise<T> {
    return within(this.subject, message, promise);
  }

  end(): void {
    for (const gate of this.#gates) gate.open();
  }
}

export function brokerCase(name: string, act: (scenario: Scenario) => Promise<void>, needs?: Feature): BrokerCase {
  const run = async (subject: BrokerSubject) => {
    const scenario = new Scenario(subject);
    try {
      await act(scenario);
    } finally {
      scenario.end();
    }
  };
  return needs ? { name, needs, run } : { name, run };
}
