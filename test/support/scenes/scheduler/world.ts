/** What comes in a scenario: healthy accounts, those beside them, and figures of both. */
import { Group } from './group.js';
import { answers } from './manners.js';
import { type Endpoint, type Manner, type Played, SECOND, Simulation } from './simulation.js';

const URLS = 3;
/** The first account of those that are beside the healthy ones. */
const FIRST = 1_000;

export interface Steady {
  readonly id: number;
  readonly manner: Manner;
  readonly until: number;
  readonly from?: number;
  readonly everyMs?: number;
  readonly urls?: number;
}

export interface Many {
  readonly accounts: number;
  readonly perSecond: number;
  readonly until: number;
  /** Asked once for each URL. */
  readonly manner: () => Manner;
  readonly from?: number;
  readonly urls?: number;
  /** They do not all begin at once. */
  readonly isSpread?: boolean;
  /** Payments before that, 20 ms apart. */
  readonly warmUp?: number;
}

export class World {
  readonly simulation: Simulation;
  /** Those beside the healthy ones. */
  readonly others = new Group();
  readonly #groups = new Map<string, Group>();
  readonly #noted: Record<string, number> = {};

  constructor(played: Played) {
    this.simulation = new Simulation(played);
  }

  /** A healthy one, which has figures. */
  group(name: string): Group {
    const group = this.#groups.get(name) ?? new Group();
    this.#groups.set(name, group);
    return group;
  }

  send(at: number, endpoint: Endpoint, group: Group): void {
    this.publish(at, [endpoint], group);
  }

  /** A payment to all these endpoints of an account. */
  publish(at: number, endpoints: readonly Endpoint[], group: Group): void {
    this.simulation.at(at, () => this.simulation.publish(endpoints, group));
  }

  /** Each payment goes to all its URLs. */
  steady(name: string, { id, manner, until, from = 0, everyMs = 50, urls = URLS }: Steady): void {
    const group = this.group(name);
    const endpoints = endpointsOf(id, urls, () => manner);
    for (let at = from; at < until; at += everyMs) this.publish(at, endpoints, group);
  }

  /** Healthy accounts with receivers of 10, 150 and 900 ms. The last takes 17 payments a second at most, and gets 5. */
  healthy(until: number, from = 0): void {
    this.steady('well10', { id: 1, manner: answers(10), from, until });
    this.steady('well150', { id: 2, manner: answers(150), from, until });
    this.steady('well900', { id: 3, manner: answers(900), from, until, everyMs: 200 });
  }

  newcomer(until: number): void {
    this.steady('newcomer', { id: 4, manner: answers(10), from: 5 * SECOND, until });
  }

  /** Hostile accounts with 5 to 100 payments each within that time. */
  hostile(accounts: number, manners: readonly Manner[], spreadMs = 10 * SECOND): void {
    const { random } = this.simulation;
    for (let id = FIRST; id < FIRST + accounts; id += 1) {
      const endpoints = endpointsOf(id, URLS, (url) => manners[(id + url) % manners.length]);
      const payments = 5 + Math.floor(95 * random());
      for (let n = 0; n < payments; n += 1) {
        this.publish(spreadMs * random(), endpoints, this.others);
      }
    }
  }

  many({ accounts, perSecond, until, manner, from = 0, urls = URLS, isSpread = false, warmUp = 0 }: Many): void {
    const everyMs = SECOND / perSecond;
    for (let id = FIRST; id < FIRST + accounts; id += 1) {
      const endpoints = endpointsOf(id, urls, manner);
      const shiftMs = isSpread ? this.simulation.random() * everyMs : 0;
      const times = Array.from({ length: warmUp }, (_, n) => n * 20 + (id % 20));
      for (let at = from + shiftMs; at < until; at += everyMs) times.push(at);
      for (const at of times) this.publish(at, endpoints, this.others);
    }
  }

  goOn(ms: number): Promise<void> {
    return this.simulation.clock.goOn(ms);
  }

  /** A figure of a scenario's own. */
  note(name: string, value: number): void {
    this.#noted[name] = value;
  }

  /** Of each group by the group's name, and those that were noted. */
  get figures(): Readonly<Record<string, number>> {
    const ofGroups = [...this.#groups].flatMap(([group, { figures }]) =>
      Object.entries(figures).map(([name, value]) => [`${group} ${name}`, value] as const),
    );
    return { ...Object.fromEntries(ofGroups), ...this.#noted };
  }
}

export function endpointsOf(accountId: number, urls: number, manner: (url: number) => Manner | undefined): Endpoint[] {
  return Array.from({ length: urls }, (_, url) => ({
    accountId,
    url: `https://a${accountId}.com/${url}`,
    manner: manner(url) ?? answers(10),
  }));
}
