/** Requests to Kafka's admin API in bounded time, each with its own client, which is closed afterwards. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import { sleep } from '../../time/retry.js';
import { withinTime } from '../common/time-limit.js';
import { disconnectAfter } from './cluster-client.js';
import { isUnknownTopic } from './kafka-errors.js';
import { failuresSince, withLastFailure } from './kafkajs-repairs/sockets.js';

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

const LOOK_EVERY_MS = 20;
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
  const begunAt = performance.now();
  const connected = new AbortController();
  const admin = kafka.admin();
  const begun: Promise<unknown>[] = [];
  const within = <R>(ms: number, step: Promise<R>): Promise<R> => {
    begun.push(step);
    return withinTime(ms, step);
  };
  try {
    const none = unreachable(kafka, brokers.length, begunAt, connected.signal);
    await Promise.race([within(limits.connectMs, admin.connect()), none]);
    return await within(limits.workMs, work(admin));
  } catch (error) {
    throw withLastFailure(error, kafka, begunAt);
  } finally {
    connected.abort();
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

/**
 * Rejects once no broker can be reached, with the last one's failure: kafkajs tries again for ten seconds and more.
 * @returns null once the signal aborts
 */
async function unreachable(kafka: Kafka, brokers: number, begunAt: number, signal: AbortSignal): Promise<null> {
  while (!signal.aborted) {
    const failures = failuresSince(kafka, begunAt);
    if (failures.length >= brokers) throw failures.at(-1);
    await sleep(LOOK_EVERY_MS, signal);
  }
  return null;
}
