/** kafkajs looks up a group's coordinator before each join, and a consumer does so at no other time. */
import type { Cluster } from 'kafkajs';
import { BrokerRefused } from '../../../ports/broker.js';
import { withinTime } from '../../common/time-limit.js';
import { isCoordinatorMissing, translated } from '../kafka-errors.js';

const ANSWER_WITHIN_MS = 3_000;

interface Group {
  readonly groupId: string;
}

interface Coordinated {
  findGroupCoordinator(of: Group): Promise<unknown>;
  findBroker(of: { nodeId: string }): Promise<Coordinated>;
  getNodeIds(): string[];
}

/**
 * kafkajs has no hook before it joins a group: REBALANCING is emitted when the request is already on its way, and not before
 * every join.
 * @param client the consumer's own. @param work awaited before each join; must not reject
 */
export function beforeJoin(client: Cluster, work: () => Promise<void>): void {
  const cluster = client as unknown as Coordinated;
  const find = cluster.findGroupCoordinator.bind(cluster);
  cluster.findGroupCoordinator = async (of) => {
    await work();
    return find(of);
  };
}

/**
 * Rejects a look-up that Kafka refuses with Kafka's error. kafkajs drops it and says that there is no coordinator, which may
 * pass: a service whose permission is missing would retry for ever, and not say why.
 * @param client the consumer's own
 */
export function tellRefusedLookups(client: Cluster): void {
  const cluster = client as unknown as Coordinated;
  const find = cluster.findGroupCoordinator.bind(cluster);
  cluster.findGroupCoordinator = async (of) => {
    try {
      return await find(of);
    } catch (error) {
      throw (isCoordinatorMissing(error) && (await refusalOf(cluster, of))) || error;
    }
  };
}

/** Asks a broker once more. Null if it has no answer, or another one. */
async function refusalOf(cluster: Coordinated, { groupId }: Group): Promise<unknown> {
  const [nodeId = ''] = cluster.getNodeIds();
  try {
    const answer = cluster.findBroker({ nodeId }).then((broker) => broker.findGroupCoordinator({ groupId }));
    await withinTime(ANSWER_WITHIN_MS, answer);
    return null;
  } catch (error) {
    return translated(error) instanceof BrokerRefused ? error : null;
  }
}
