/** Requests to Kafka's admin API in bounded time, each with its own client, which is closed afterwards. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import { BrokerUnavailable } from '../../ports/broker.js';
import { withinTime } from '../common/time-limit.js';
import { disconnectAfter } from './cluster-client.js';
import { connectionTrouble, isUnknownTopic } from './kafka-errors.js';
import { withLastFailure } from './kafkajs-repairs/sockets.js';

/** ms to wait for a Kafka that accepts connections but does not answer: kafkajs's own limits are minutes. */
export interface SessionLimits {
  readonly connectMs: number;
  readonly workMs: number;
}

export interface KafkaLimits extends SessionLimits {
  /**
   * For one kafkajs request, and for a whole send. Hazard: if a send may take longer than a request, kafkajs repeats it; if
   * it may take less, a merely slow Kafka publishes it twice. ms
   */
  readonly answerMs: number;
}

export const KAFKA_LIMITS: KafkaLimits = { connectMs: 10_000, workMs: 20_000, answerMs: 30_000 };

const REACHED_WITHIN_MS = 3_000;
const DISCONNECT_WITHIN_MS = 500;
const MOST_TRIES = 10;
const TRY_AGAIN_MS = 200;

/** @throws kafkajs's errors */
export async function askAdmin<T>(
  kafka: Kafka,
  brokers: readonly string[],
  limits: SessionLimits,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  await mustBeReachable(brokers);
  const begunAt = performance.now();
  const admin = kafka.admin();
  const begun: Promise<unknown>[] = [];
  const within = <R>(ms: number, step: Promise<R>): Promise<R> => {
    begun.push(step);
    return withinTime(ms, step);
  };
  try {
    await within(limits.connectMs, admin.connect());
    return await within(limits.workMs, work(admin));
  } catch (error) {
    throw withLastFailure(error, kafka, begunAt);
  } finally {
    await withinTime(DISCONNECT_WITHIN_MS, disconnectAfter(begun, admin)).catch(() => undefined);
  }
}

/** Asks for two seconds: not every broker knows a new topic at once. */
export async function onceKnown<T>(ask: () => Promise<T>, passes = isUnknownTopic): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!passes(error) || tries === MOST_TRIES) throw error;
      await delay(TRY_AGAIN_MS);
    }
  }
}

/** kafkajs takes ten seconds and more to report that no broker listens. @throws BrokerUnavailable if so */
async function mustBeReachable(brokers: readonly string[]): Promise<void> {
  try {
    await Promise.any(brokers.map(connected));
  } catch (error) {
    const [first] = error instanceof AggregateError ? error.errors : [];
    const says = connectionTrouble(first)?.says ?? `no Kafka answers at BROKER_URL (${first?.code ?? 'no answer'})`;
    throw new BrokerUnavailable(says, { cause: error });
  }
}

function connected(broker: string): Promise<void> {
  const colon = broker.lastIndexOf(':');
  const host = broker.slice(0, colon).replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(broker.slice(colon + 1)), timeout: REACHED_WITHIN_MS });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.once('connect', () => end(resolve));
    socket.once('timeout', () => end(() => reject(new Error('no answer'))));
    socket.once('error', (error) => end(() => reject(error)));
  });
}
