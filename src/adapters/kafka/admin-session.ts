/** One request to Kafka's admin API in bounded time, with its own client, which is closed afterwards. */
import type { Admin, Kafka } from 'kafkajs';
import { withinTime } from '../common/time-limit.js';
import { disconnectAfter } from './kafkajs-repairs/let-go.js';
import { withLastFailure } from './kafkajs-repairs/socket-failures.js';
import type { SessionLimits } from './limits.js';
import { mustBeReachable } from './reachable.js';

const DISCONNECT_WITHIN_MS = 500;

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
