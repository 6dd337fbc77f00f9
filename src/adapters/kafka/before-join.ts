/**
 * kafkajs has no hook before it joins a group: REBALANCING is told while the request is on its way already, and not before
 * every join. But it looks for the group's coordinator then, each time, and a consumer looks for it only then.
 */
import type { Cluster } from 'kafkajs';

interface Coordinated {
  findGroupCoordinator(of: { groupId: string }): Promise<unknown>;
}

/** @param client the client's own. @param work waited for before each join; must not reject */
export function beforeJoin(client: Cluster, work: () => Promise<void>): void {
  const cluster = client as unknown as Coordinated;
  const find = cluster.findGroupCoordinator.bind(cluster);
  cluster.findGroupCoordinator = async (of) => {
    await work();
    return find(of);
  };
}
