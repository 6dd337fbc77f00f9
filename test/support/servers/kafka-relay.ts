/** A relay between a client and a Kafka that a test may have forge or swallow single answers. It speaks Kafka's protocol. */
import { connect, createServer, type Socket } from 'node:net';
import { wholeAnswers } from '../../../src/adapters/kafka/kafkajs-repairs/sockets.js';
import { resetSocket } from '../../services/reset-socket.js';
import { listen } from './receiver.js';

/** Numbers of Kafka's protocol. */
const KINDS = { JoinGroup: 11, Heartbeat: 12, SyncGroup: 14 } as const;
const ERRORS = { UNKNOWN_MEMBER_ID: 25, REBALANCE_IN_PROGRESS: 27 } as const;

/** Behind the size of a request, and of an answer: its kind, and the number that both have in common. */
const KIND_AT = 4;
const NUMBER_AT = 8;
const ANSWERS_NUMBER_AT = 4;

/** What becomes of the next request of a kind. */
export type Fault =
  /** Kafka answers, and its answer is replaced by one with this error. */
  | { readonly on: 'Heartbeat'; readonly error: keyof typeof ERRORS }
  /** Kafka gets it; instead of an answer the connection is reset. */
  | { readonly on: keyof typeof KINDS; readonly answer: 'lost' }
  /** The connection is reset, and Kafka does not get it. */
  | { readonly on: keyof typeof KINDS; readonly request: 'lost' };

export type KafkaRelay = Awaited<ReturnType<typeof startKafkaRelay>>;

/** @param brokers host:port of one Kafka */
export async function startKafkaRelay(brokers: string) {
  const [host = '', port = ''] = brokers.split(':');
  const faults: Fault[] = [];
  const nextOf = (kind: number) => {
    const [next] = faults;
    return next && KINDS[next.on] === kind ? faults.shift() : undefined;
  };
  const kafkas = new Set<Socket>();
  const server = createServer((client) => {
    const kafka = connect(Number(port), host);
    kafkas.add(kafka.once('close', () => kafkas.delete(kafka)));
    const onItsWay = new Map<number, Fault>();
    const request = (bytes: Buffer) => {
      const fault = nextOf(bytes.readInt16BE(KIND_AT));
      if (fault) onItsWay.set(bytes.readInt32BE(NUMBER_AT), fault);
      if (fault && 'request' in fault) resetSocket(client);
      else kafka.write(bytes);
    };
    const answer = (bytes: Buffer) => {
      const fault = onItsWay.get(bytes.readInt32BE(ANSWERS_NUMBER_AT));
      if (fault && 'answer' in fault) resetSocket(client);
      else client.write(fault && 'error' in fault ? refused(bytes, fault.error) : addressed(bytes));
    };
    client.on('data', wholeAnswers(request)).once('close', () => kafka.destroy());
    kafka.on('data', wholeAnswers(answer)).once('close', () => client.destroy());
    kafka.on('error', () => undefined); // resets are the purpose of the relay
  });
  const listener = await listen(server);
  const kafkasAddress = address(host, Number(port));
  const ownAddress = address(host, listener.port);

  /** Kafka tells its clients where to connect to: to the relay. Both addresses have the same length. */
  function addressed(bytes: Buffer): Buffer {
    const changed = Buffer.from(bytes);
    for (let at = changed.indexOf(kafkasAddress); at >= 0; at = changed.indexOf(kafkasAddress, at + 1)) {
      ownAddress.copy(changed, at);
    }
    return changed;
  }

  return {
    brokers: `${host}:${listener.port}`,
    /** Each happens once, in this order. */
    plan: (...more: Fault[]) => void faults.push(...more),
    /** Faults that are still to happen. */
    planned: () => faults.length,
    close: async (): Promise<void> => {
      await listener.close();
      for (const kafka of kafkas) kafka.destroy();
    },
  };
}

/** As it is in answers, behind the length of the host. */
function address(host: string, port: number): Buffer {
  const bytes = Buffer.alloc(host.length + 4);
  bytes.write(host);
  bytes.writeInt32BE(port, host.length);
  return bytes;
}

/** The answer to a heartbeat ends with its error. */
function refused(bytes: Buffer, error: keyof typeof ERRORS): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeInt16BE(ERRORS[error], bytes.length - 2);
  return changed;
}
