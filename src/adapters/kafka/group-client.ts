/** A kafkajs consumer, with the service's settings and its own hooks. */
import type { Kafka, Consumer as KafkaClient } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { BrokerRefused, type ConsumeOptions } from '../../ports/broker.js';
import { translated } from './kafka-errors.js';
import { type GroupHooks, hookGroupClient } from './kafkajs-repairs/group-hooks.js';
import { subscribersAssigner } from './kafkajs-repairs/subscribers-assigner.js';
import type { TopicAdmin } from './topic-admin.js';

export interface KafkaConsumerParts {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly sessionTimeoutMs: number;
  readonly logger: Logger;
  /** A client that the group does not confirm for that long is replaced; STUCK_MS without it. */
  readonly stuckMs?: number;
  /** Until a partition that can't be read is fetched again; REFUSED_AGAIN_MS without it. */
  readonly refusedAgainMs?: number;
}

export interface ClientHooks extends Omit<GroupHooks, 'waitMs'> {
  /** Then fetches end soon, and the client isn't restarted after a crash. */
  isStopping(): boolean;
  /** Called on the group's leader when it divides the partitions among these members. */
  divided(memberIds: readonly string[]): void;
}

/** How long the group waits for members to rejoin: they do so within a heartbeat. */
const REBALANCE_MS = 15_000;
/** Of a fetch without records, while a partition is paused: the others' fetch delays its next record that long. */
const WAIT_MS = 100;
/**
 * While none is paused, or none is ever fetched: a stop or a rebalance waits for its end. With 100 ms an idle service with 3
 * partitions a topic took 9.2 % of a core, and Kafka 9.9 %; with 500 ms 4.4 and 4.3 %. Since then, with 12 partitions: 0.2
 * to 0.3 % less than with 500 ms.
 */
const IDLE_WAIT_MS = 1_000;

export function groupClient(
  { kafka, admin, sessionTimeoutMs }: KafkaConsumerParts,
  { group, inFlight }: Pick<ConsumeOptions, 'group' | 'inFlight'>,
  hooks: ClientHooks,
): KafkaClient {
  const partitionsOf = async (topic: string) => [...(await admin.extent(topic)).keys()];
  const waitMs = () => (hooks.isStopping() || client.paused().length > 0 ? WAIT_MS : IDLE_WAIT_MS);
  const mayGoOn = () => !hooks.isStopping() && !hooks.isReplaced();
  const client: KafkaClient = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: Math.floor(sessionTimeoutMs / 5),
    rebalanceTimeout: REBALANCE_MS,
    // Slept by kafkajs where there is nothing to fetch.
    maxWaitTimeInMs: inFlight > 0 ? WAIT_MS : IDLE_WAIT_MS,
    maxBytesPerPartition: 256 * 1024,
    allowAutoTopicCreation: false,
    partitionAssigners: [
      subscribersAssigner(partitionsOf, hooks, (cluster) => hookGroupClient(cluster, { ...hooks, waitMs })),
    ],
    retry: { restartOnFailure: async (error) => mayGoOn() && !(translated(error) instanceof BrokerRefused) },
  });
  return client;
}
