/** One request to Kafka's admin API in bounded time, with its own client, which is closed afterwards. */
// Node's ES modules don't see all of its named exports; the default export has them.
import kafkajs, { type Admin, type ConfigEntries, type Kafka } from 'kafkajs';
import { withinTime } from '../common/time-limit.js';
import { disconnectAfter } from './let-go.js';
import type { SessionLimits } from './limits.js';
import { mustBeReachable } from './reachable.js';
import { withLastFailure } from './socket-failures.js';

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

const { TOPIC } = kafkajs.ConfigResourceTypes;
const { TOPIC_CONFIG } = kafkajs.ConfigSource;
const RETENTION = 'retention.ms';
const TIMESTAMP_TYPE = 'message.timestamp.type';
/** The broker stamps records: Kafka's retention then doesn't depend on this machine's clock, nor does it refuse a wrong one. */
export const STAMPED_BY_BROKER = { name: TIMESTAMP_TYPE, value: 'LogAppendTime' } as const;

export interface TopicConfig {
  /** ms; null is unlimited. */
  readonly retentionMs: number | null;
  readonly isStampedByBroker: boolean;
}

export async function topicConfigs(admin: Admin, topics: readonly string[]): Promise<Map<string, TopicConfig>> {
  const entries = await configEntries(admin, topics, [RETENTION, TIMESTAMP_TYPE]);
  return new Map([...entries].map(([topic, of]) => [topic, configOf(of)]));
}

/** Hazard: kafkajs can only replace all entries of a topic, so the others are set again. */
export async function stampByBroker(admin: Admin, topic: string): Promise<void> {
  const entries = (await configEntries(admin, [topic])).get(topic) ?? [];
  const others = entries.filter(
    ({ configName, configSource }) => configSource === TOPIC_CONFIG && configName !== TIMESTAMP_TYPE,
  );
  const kept = others.map(({ configName: name, configValue: value }) => ({ name, value }));
  const resources = [{ type: TOPIC, name: topic, configEntries: [...kept, STAMPED_BY_BROKER] }];
  await admin.alterConfigs({ validateOnly: false, resources });
}

async function configEntries(admin: Admin, topics: readonly string[], configNames?: string[]) {
  const resources = topics.map((name) => ({ type: TOPIC, name, ...(configNames && { configNames }) }));
  const described = await admin.describeConfigs({ resources, includeSynonyms: false });
  return new Map(described.resources.map((one) => [one.resourceName, one.configEntries]));
}

function configOf(entries: readonly ConfigEntries[]): TopicConfig {
  const entry = (name: string) => entries.find(({ configName }) => configName === name)?.configValue;
  const ms = Number(entry(RETENTION) ?? -1);
  return { retentionMs: ms < 0 ? null : ms, isStampedByBroker: entry(TIMESTAMP_TYPE) === STAMPED_BY_BROKER.value };
}
