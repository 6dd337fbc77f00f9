/** The last failures of a client's connections: kafkajs retries for longer than we wait, and only logs why. */
import type { ISocketFactory, Kafka } from 'kafkajs';
import { isVague } from '../kafka-errors.js';

interface Failure {
  readonly error: Error;
  /** ms, monotonic */
  readonly at: number;
}

/** By address. */
type Failures = Map<string, Failure>;

const failuresOf = new WeakMap<Kafka, Failures>();

/** @param create makes the client with a given `socketFactory` */
export function withWatchedSockets(sockets: ISocketFactory, create: (watched: ISocketFactory) => Kafka): Kafka {
  const failures: Failures = new Map();
  const kafka = create((about) => {
    const address = `${about.host}:${about.port}`;
    let isConnected = false;
    let hasFailed = false;
    const failed = (error: Error) => {
      if (hasFailed) return;
      hasFailed = true;
      // Behind all others.
      failures.delete(address);
      failures.set(address, { error, at: performance.now() });
    };
    const onConnect = () => {
      isConnected = true;
      failures.delete(address);
      about.onConnect();
    };
    const socket = sockets({ ...about, onConnect });
    socket.once('error', failed);
    const code = about.ssl ? 'TLS_CLOSED' : 'KafkaJSConnectionClosedError';
    socket.once('end', () => {
      if (isConnected && socket.bytesRead === 0) failed(Object.assign(new Error('closed'), { code }));
    });
    return socket;
  });
  failuresOf.set(kafka, failures);
  return kafka;
}

/** The last failure since then; null if there is none. @param since ms, monotonic */
export function lastFailure(kafka: Kafka, since: number): Error | null {
  const last = [...(failuresOf.get(kafka)?.values() ?? [])].at(-1);
  return last && last.at >= since ? last.error : null;
}

/** Adds the last failure to an error that does not say why. */
export function withLastFailure(error: unknown, kafka: Kafka, since: number): unknown {
  const failure = isVague(error) ? lastFailure(kafka, since) : null;
  return failure ? new AggregateError([error, failure], 'no connection') : error;
}
