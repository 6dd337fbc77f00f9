/** A cluster: servers that share one log, as if replication took no time. One is the leader; who it is, the test says. */
import { randomUUID } from 'node:crypto';
import type { Member } from './calls.js';
import { type EventStoreServer, startEventStore } from './event-store-server.js';
import { StoredData } from './stored-data.js';

export interface EventStoreCluster {
  /** Names every member: the client asks them who leads. */
  readonly url: string;
  readonly members: readonly EventStoreServer[];
  readonly leader: EventStoreServer;
  /** Kills a member; the leadership stays with it until another is elected. */
  kill(member: EventStoreServer): Promise<void>;
  elect(member: EventStoreServer): void;
  /** Starts those again that were killed, where they were; `members` has the new ones in their places. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

export async function startEventStoreCluster(size = 3): Promise<EventStoreCluster> {
  const data = new StoredData();
  const ids = Array.from({ length: size }, () => randomUUID());
  const members: EventStoreServer[] = [];
  const dead = new Set<EventStoreServer>();
  let leading = 0;
  const cluster = {
    isLeader: (port: number) => members[leading]?.port === port,
    members: (): Member[] =>
      members.map((member, place) => ({
        id: ids[place] ?? '',
        host: '127.0.0.1',
        port: member.port,
        isAlive: !dead.has(member),
        isLeader: place === leading,
      })),
  };
  for (const _ of ids) members.push(await startEventStore({ data, cluster }));
  return {
    url: `esdb://${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false`,
    members,
    get leader() {
      return members[leading] as EventStoreServer;
    },
    kill: async (member) => {
      dead.add(member);
      await member.kill();
    },
    elect: (member) => {
      leading = members.indexOf(member);
    },
    revive: async () => {
      for (const member of dead) {
        members[members.indexOf(member)] = await startEventStore({ port: member.port, data, cluster });
        dead.delete(member);
      }
    },
    stop: async () => void (await Promise.all(members.map((member) => member.stop()))),
  };
}
