/**
 * A cluster: servers that share one log, as if replication took no time. One is the leader; who it is, the test says. A
 * member that is killed or cut off is away; a leader without a majority leads no more, and nothing is written.
 */
import { randomUUID } from 'node:crypto';
import type { Endpoint, Member } from './calls.js';
import { type EventStoreServer, HOST, startEventStore } from './event-store-server.js';
import type { NodeRole, Seat } from './node-role.js';
import { StoredData } from './stored-data.js';

export interface EventStoreCluster {
  /** Names every member: the client asks them who leads. */
  readonly url: string;
  readonly members: readonly EventStoreServer[];
  /** The one that was elected last, also while it is away. */
  readonly leader: EventStoreServer;
  /** Kills a member; nobody leads until another is elected, if it was the leader. */
  kill(member: EventStoreServer): Promise<void>;
  /** Null: nobody leads, as while an election is under way. */
  elect(member: EventStoreServer | null): void;
  /** It reaches no other member: its log stands still, and clients go on reaching it. */
  cutOff(member: EventStoreServer): void;
  /** Starts those again that were killed, where they were; `members` has the new ones in their places. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

export async function startEventStoreCluster(size: number): Promise<EventStoreCluster> {
  const seats = new Seats(size);
  const { servers: members } = seats;
  for (let place = 0; place < size; place += 1) members.push(await startEventStore({ cluster: seats }));
  return {
    url: `esdb://${members.map(({ port }) => `${HOST}:${port}`).join(',')}?tls=false`,
    members,
    get leader() {
      return members[seats.elected ?? 0] as EventStoreServer;
    },
    kill: async (member) => {
      seats.dead.add(members.indexOf(member));
      await member.kill();
    },
    elect: (member) => {
      seats.elected = member && members.indexOf(member);
    },
    cutOff: (member) => seats.cutOff(members.indexOf(member)),
    revive: async () => {
      for (const place of seats.dead) {
        const { port = 0 } = members[place] ?? {};
        members[place] = await startEventStore({ port, cluster: seats });
        seats.dead.delete(place);
      }
    },
    stop: async () => void (await Promise.all(members.map((member) => member.stop()))),
  };
}

/** A follower that lost its leader stays one until another is elected. */
const STATES = { leader: 'leader', follower: 'follower', leaderless: 'unknown' } as const;

interface Apart {
  readonly data: StoredData;
  readonly leader: number | null;
}

class Seats implements Seat {
  readonly servers: EventStoreServer[] = [];
  readonly dead = new Set<number>();
  elected: number | null = 0;
  readonly #ids: readonly string[];
  readonly #data = new StoredData();
  /** Those that are cut off: their log, and whom they know as the leader. */
  readonly #apart = new Map<number, Apart>();

  constructor(size: number) {
    this.#ids = Array.from({ length: size }, () => randomUUID());
  }

  cutOff(place: number): void {
    if (!this.#apart.has(place)) this.#apart.set(place, { data: this.#data.copy(), leader: this.elected });
  }

  data(port: number): StoredData {
    return this.#apart.get(this.#placeOf(port))?.data ?? this.#data;
  }

  members(port: number): Member[] {
    const asked = this.#placeOf(port);
    return this.#ids.map((id, place) => {
      const { kind } = this.#nodeRole(place);
      return { id, ...this.#endpoint(place), isAlive: this.#reach(asked, place), state: STATES[kind] };
    });
  }

  nodeRole(port: number): NodeRole {
    return this.#nodeRole(this.#placeOf(port));
  }

  #nodeRole(place: number): NodeRole {
    const { elected } = this;
    if (elected !== null && this.#hasMajority(elected)) {
      if (elected === place) return { kind: 'leader' };
      if (this.#reach(place, elected)) return { kind: 'follower', leader: this.#endpoint(elected) };
    }
    const known = this.#apart.has(place) ? (this.#apart.get(place)?.leader ?? null) : elected;
    if (known === null || known === place || place < 0) return { kind: 'leaderless' };
    return { kind: 'follower', leader: this.#endpoint(known) };
  }

  /** Not there yet: a server that is just starting. */
  #placeOf(port: number): number {
    return this.servers.findIndex((server) => server.port === port);
  }

  #isUp(place: number): boolean {
    return !this.dead.has(place) && this.servers[place] !== undefined;
  }

  #reach(one: number, other: number): boolean {
    if (!this.#isUp(one) || !this.#isUp(other)) return false;
    return one === other || (!this.#apart.has(one) && !this.#apart.has(other));
  }

  #hasMajority(place: number): boolean {
    return this.#ids.filter((_, other) => this.#reach(place, other)).length > this.#ids.length / 2;
  }

  #endpoint(place: number): Endpoint {
    return { host: HOST, port: this.servers[place]?.port ?? 0 };
  }
}
