/**
 * The sockets of kafkajs: they pass it only whole responses, and remember why the last ones failed.
 *
 * Hazard (docs/decisions/0005): a connection of kafkajs prepends a partial response to data from its next socket: its
 * listener throws, uncaught, or waits for ever. Here each socket has its own buffer, and an error in the listener fails
 * only its socket: kafkajs rejects the connection's pending requests, and reconnects.
 */
import type { ISocketFactory, ISocketFactoryArgs, Kafka } from 'kafkajs';
import { isVague } from '../kafka-errors.js';
import { openSocket } from './kafkajs-internals.js';

type Listener = (chunk: Buffer) => void;

const SIZE_BYTES = 4;
/** A response starts with the correlation id of its request. Only bare SASL tokens from before Kafka 1.0 may be shorter. */
const SMALLEST_ANSWER = 4;
/**
 * kafkajs fetches 10 MiB at most. Only a single batch may be larger, and a broker accepts no request above 100 MiB by
 * default (socket.request.max.bytes). Other protocols appear larger: "HTTP" reads as 1.1 GiB, a TLS alert as 336 MiB.
 */
const LARGEST_ANSWER = 128 * 1024 * 1024;

/** How a TLS server answers anything else than TLS: type alert (RFC 8446 5.1), and the first byte of its version. */
const TLS_ALERT = 0x1503;

interface Failure {
  readonly error: Error;
  /** ms, monotonic */
  readonly at: number;
}

/** By address; the last failure is the last entry. */
type Failures = Map<string, Failure>;

const failuresOf = new WeakMap<Kafka, Failures>();

/** @param create makes the client with the given `socketFactory` */
export function withOwnSockets(create: (sockets: ISocketFactory) => Kafka): Kafka {
  const failures: Failures = new Map();
  const kafka = create((options) => watchedSocket(options, failures));
  failuresOf.set(kafka, failures);
  return kafka;
}

/** The last failure since then; null if there is none. @param since ms, monotonic */
export function lastFailure(kafka: Kafka, since: number): Error | null {
  const last = [...(failuresOf.get(kafka)?.values() ?? [])].at(-1);
  return last && last.at >= since ? last.error : null;
}

export function withLastFailure(error: unknown, kafka: Kafka, since: number): unknown {
  const failure = isVague(error) ? lastFailure(kafka, since) : null;
  return failure ? new AggregateError([error, failure], 'no connection') : error;
}

function watchedSocket(options: ISocketFactoryArgs, failures: Failures) {
  const address = `${options.host}:${options.port}`;
  let isConnected = false;
  let hasFailed = false;
  const failed = (error: Error) => {
    if (hasFailed) return;
    hasFailed = true;
    failures.delete(address);
    failures.set(address, { error, at: performance.now() });
  };
  const onConnect = () => {
    isConnected = true;
    failures.delete(address);
    options.onConnect();
  };
  const socket = wholeAnswersSocket({ ...options, onConnect });
  socket.once('error', failed);
  const code = options.ssl ? 'TLS_CLOSED' : 'KafkaJSConnectionClosedError';
  socket.once('end', () => {
    if (isConnected && socket.bytesRead === 0) failed(Object.assign(new Error('closed'), { code }));
  });
  return socket;
}

/** kafkajs 2.2.4 adds its only data listener with `on`. */
export function wholeAnswersSocket(options: ISocketFactoryArgs) {
  const socket = openSocket(options);
  const on = socket.on.bind(socket) as (event: string, listener: Listener) => typeof socket;
  const failing = (take: Listener) => (chunk: Buffer) => {
    try {
      take(chunk);
    } catch (error) {
      socket.destroy(error as Error);
    }
  };
  const listen = (event: string, listener: Listener) =>
    on(event, event === 'data' ? failing(wholeAnswers(listener)) : listener);
  return Object.assign(socket, { on: listen });
}

/**
 * Takes chunks of a stream, and passes on each response with its size (INT32) in front.
 * @throws Error with code INVALID_ANSWER_SIZE or TLS_ANSWER, and any error of `onAnswer`
 */
export function wholeAnswers(onAnswer: Listener): Listener {
  let held: Buffer[] = [];
  let bytes = 0;
  let needed = SIZE_BYTES;
  return (chunk) => {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < needed) return;
    let rest = Buffer.concat(held);
    for (needed = bytesOfFirst(rest); needed <= rest.length; needed = bytesOfFirst(rest)) {
      onAnswer(rest.subarray(0, needed));
      rest = rest.subarray(needed);
    }
    held = [rest];
    bytes = rest.length;
  };
}

/** The size of the first response including its size field; of that field alone, until it is complete. */
function bytesOfFirst(bytes: Buffer): number {
  if (bytes.length < SIZE_BYTES) return SIZE_BYTES;
  const size = bytes.readInt32BE();
  if (size >= SMALLEST_ANSWER && size <= LARGEST_ANSWER) return SIZE_BYTES + size;
  const code = size >>> 16 === TLS_ALERT ? 'TLS_ANSWER' : 'INVALID_ANSWER_SIZE';
  throw Object.assign(new Error(`a response can't have ${size} bytes`), { code });
}
