/**
 * kafkajs has no hook before it joins a group: REBALANCING is emitted when the request is already on its way, and not before
 * every join. But before each join it looks up the group's coordinator, and a consumer does so at no other time.
 */
import type { Cluster } from 'kafkajs';

interface Coordinated {
  findGroupCoordinator(of: { groupId: string }): Promise<unknown>;
}

/** @param client the consumer's own. @param work awaited before each join; must not reject */
export function beforeJoin(client: Cluster, work: () => Promise<void>): void {
  const cluster = client as unknown as Coordinated;
  const find = cluster.findGroupCoordinator.bind(cluster);
  cluster.findGroupCoordinator = async (of) => {
    await work();
    return find(of);
  };
}
