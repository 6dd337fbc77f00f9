/**
 * Checks whether an unreadable batch stops a partition. A process that holds the partition reports this too; this check
 * needs none.
 */
import { TookTooLong, withinTime } from '../adapters/common/time-limit.js';
import { retryGroup } from '../delivery/groups.js';
import { standstillText, standstillTodo } from '../delivery/standstill.js';
import { topicsOf } from '../delivery/topics.js';
import { type Broker, BrokerRefused, BrokerUnavailable, type UnreadableBatch } from '../ports/broker.js';
import type { Config } from '../settings/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

/** Shorter than a check's limit: if Kafka does not answer, the broker check says so. */
const LOOK_WITHIN_MS = 8_000;

/** @param openBroker null if none exists yet */
export function standstillChecks(config: Config, openBroker: () => Promise<Broker | null>): Check[] {
  return [{ name: 'partitions', run: async () => findings(config, await openBroker()) }];
}

async function findings(config: Config, broker: Broker | null): Promise<Finding[]> {
  if (!broker) return [];
  try {
    const found = await withinTime(LOOK_WITHIN_MS, nextUnreadable(config, broker));
    return found.length === 0 ? [ok('no partition is stopped by an unreadable batch')] : found.map(finding);
  } catch (error) {
    if (error instanceof BrokerRefused) return [warn(error.message, 'grant READ on groups account-webhooks-browse-*')];
    if (error instanceof BrokerUnavailable || error instanceof TookTooLong) return [];
    throw error;
  }
}

/** The next record of a group in each partition: earlier records may still be in progress. */
async function nextUnreadable(config: Config, broker: Broker): Promise<UnreadableBatch[]> {
  const { payments, isTier } = topicsOf(config.paymentTopics, config.topicPrefix);
  const tiers = (await broker.listTopics()).filter(isTier);
  const { group } = config.delivery;
  const consumed = [
    ...payments.map((topic) => ({ topic, by: group })),
    ...tiers.map((topic) => ({ topic, by: retryGroup(group) })),
  ];
  const found = await Promise.all(consumed.map((one) => nextOf(broker, one)));
  return found.flat();
}

/** Concurrently: each topic is a group of its own, and Kafka delays a new group by three seconds. */
async function nextOf(broker: Broker, { topic, by }: { topic: string; by: string }): Promise<UnreadableBatch[]> {
  const found: UnreadableBatch[] = [];
  const next = [...(await broker.committed(by, topic))];
  const ranges = new Map(next.map(([partition, from]) => [partition, { from, to: from + 1 }]));
  for await (const _ of broker.browse(topic, { ranges, onUnreadable: (batch) => found.push(batch) }));
  return found;
}

function finding(batch: UnreadableBatch): Finding {
  return fail(standstillText(batch), standstillTodo(batch));
}
