/**
 * Random histories of topics and groups: after each sweep exactly what may go is gone. RETENTION_RUNS makes it longer.
 */
import fc from 'fast-check';
import { RecordLog } from '../../../src/adapters/sqlite/record-log.js';
import { named, records } from '../../contract/broker/inbox.js';
import { inFull } from '../../runner/thorough.js';
import { Sweeping } from '../../support/scenes/sweeping.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const RUNS = Number(process.env.RETENTION_RUNS ?? inFull(60, 15));

const TOPICS = ['payments', 'tier', 'log'] as const;
const GROUPS = ['required', 'other'] as const;
const KEPT_MS = 1_000;
const RULES = {
  keptMs: KEPT_MS,
  groupsOf: (topic: string) => (topic === 'log' ? [] : ['required']),
};
type Topic = (typeof TOPICS)[number];
type Group = (typeof GROUPS)[number];

type Step =
  | { readonly kind: 'publish'; readonly topic: Topic; readonly count: number }
  | { readonly kind: 'begin'; readonly group: Group; readonly topic: Topic }
  | { readonly kind: 'done'; readonly group: Group; readonly topic: Topic; readonly share: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'sweep' };

const topic = fc.constantFrom(...TOPICS);
const group = fc.constantFrom(...GROUPS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('publish' as const), topic, count: fc.constantFrom(1, 3, 700) }),
  fc.record({ kind: fc.constant('begin' as const), group, topic }),
  fc.record({ kind: fc.constant('done' as const), group, topic, share: fc.constantFrom(0.3, 0.9, 1) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 999, 1_000, 5_000) }),
  fc.record({ kind: fc.constant('sweep' as const) }),
);

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(async () => {
  await folder.close();
});

/** What should be there: times by topic and offset, and where each group stands. */
class Oracle {
  readonly #times = new Map<Topic, number[]>(TOPICS.map((name) => [name, []]));
  readonly #first = new Map<Topic, number>();
  readonly #stands = new Map<string, number>();

  end(name: Topic): number {
    return this.#times.get(name)?.length ?? 0;
  }

  publish(name: Topic, count: number, now: number): void {
    this.#times.get(name)?.push(...Array.from({ length: count }, () => now));
  }

  stands(name: Topic, by: Group, next?: number): number {
    const key = `${by} ${name}`;
    this.#stands.set(key, Math.max(next ?? 0, this.#stands.get(key) ?? 0));
    return this.#stands.get(key) ?? 0;
  }

  sweep(name: Topic, before: number): void {
    const young = (this.#times.get(name) ?? []).findIndex((time) => time >= before);
    const holding = GROUPS.flatMap((by) => this.#holds(name, by));
    const until = Math.min(this.end(name) - 1, young === -1 ? Number.POSITIVE_INFINITY : young, ...holding);
    this.#first.set(name, Math.max(this.first(name), until));
  }

  first(name: Topic): number {
    return this.#first.get(name) ?? 0;
  }

  #holds(name: Topic, by: Group): number[] {
    const stands = this.#stands.get(`${by} ${name}`);
    if (by === 'required' && name !== 'log') return [stands ?? 0];
    return stands === undefined ? [] : [stands];
  }
}

test('exactly what is old and done goes, whatever happened before', async () => {
  const { file } = folder.open();
  let now = 0;
  const log = new RecordLog(file, () => now);
  const sweeping = new Sweeping(file, RULES);
  folder.onClose(() => sweeping.stop());

  const offsets = (name: Topic) =>
    file.file
      .prepare('SELECT min(offset), max(offset) + 1, count(*) FROM records JOIN topics ON id = topic WHERE name = ?')
      .raw()
      .get(name);
  const perform = async (one: Step, oracle: Oracle): Promise<void> => {
    switch (one.kind) {
      case 'publish':
        oracle.publish(one.topic, one.count, now);
        await log.append(one.topic, records(named(one.count)));
        return;
      case 'begin':
        oracle.stands(one.topic, one.group);
        return log.begin(one.group, [one.topic]);
      case 'done': {
        const next = oracle.stands(one.topic, one.group, Math.floor(oracle.end(one.topic) * one.share));
        await log.rememberProgress(one.group, new Map([[one.topic, { offset: next }]]));
        return;
      }
      case 'wait':
        now += one.ms;
        return;
      case 'sweep':
        for (const name of TOPICS) oracle.sweep(name, now - KEPT_MS);
        return sweeping.round(now);
      default:
        one satisfies never;
    }
  };
  const empty = () => file.file.exec('DELETE FROM records; DELETE FROM group_offsets; DELETE FROM topics');

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      empty();
      const oracle = new Oracle();
      for (const one of [...steps, { kind: 'sweep' as const }]) await perform(one, oracle);
      for (const name of TOPICS) {
        const [first, end] = [oracle.first(name), oracle.end(name)];
        expect(offsets(name)).toEqual(
          end === 0 ? [null, null, 0] : [Math.max(0, first), end, end - Math.max(0, first)],
        );
      }
    }),
    { numRuns: RUNS },
  );
});
