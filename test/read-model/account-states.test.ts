import type { EventStore, NewEvent } from '../../src/ports/event-store.js';
import { AccountStates, ReadModelBehind } from '../../src/read-model/account-states.js';
import type { Folded } from '../../src/read-model/fold.js';
import { compileProjection } from '../../src/read-model/projection-source.js';
import type { ProjectionStore } from '../../src/read-model/projection-store.js';

const projection = compileProjection(
  'texts',
  `fromCategory('text').foreachStream().when({
    $init: () => ({ text: '' }),
    Written: (state, event) => ({ text: event.data.text }),
  });`,
);

type State = { readonly text: string };

const webhook = { id: 7, url: 'https://shop.example.com/a', createdAt: '2026-11-21T09:00:00.000Z' };
const written = (revision: number, key?: string, text = ''): NewEvent => ({
  ...{ id: `event ${revision}`, type: 'Written', data: { text } },
  metadata: key === undefined ? {} : { idempotency: { key, request: 'fingerprint', at: 0, webhooks: [webhook] } },
});

function fixture(limits?: { streams: number; characters: number }) {
  const stored = new Map<string, Folded<State>>();
  const reached: number[] = [];
  const other: Error[] = [];
  let time = 100;
  const inStore = new Map<string, readonly NewEvent[]>();
  const read = async function* (stream: string, from = 0) {
    for (const [revision, event] of (inStore.get(stream) ?? []).entries())
      if (revision >= from) yield { ...event, stream, revision, position: '' };
  } as EventStore['read'];
  const states = new AccountStates<State>({
    projection,
    stored: {
      setAside: new Map(),
      current: (stream: string) => stored.get(stream),
      key: () => null,
    } as unknown as ProjectionStore<State>,
    store: { read, endsWith: async () => false },
    quarantine: { examine: async () => undefined },
    now: () => time,
    onReached: (ms) => reached.push(ms),
    onOtherHistory: (error) => other.push(error),
    ...(limits && { limits }),
  });
  const commit = (stream: string, folded: Folded<State>) => {
    stored.set(stream, folded);
    states.committed({ changed: new Map([[stream, folded]]), setAside: new Map() });
  };
  const at = (now: number) => {
    time = now;
  };
  const append = (stream: string, events: readonly NewEvent[], revision: number) =>
    states.append(stream, states.cached(stream), events, revision);
  return { states, commit, at, append, reached, other, inStore };
}

const folded = (revision: number, eventId = `event ${revision}`) => ({ state: { text: '' }, revision, eventId });

test('an append and its keys are seen until the subscription has passed them', () => {
  const { states, commit, at, append, reached } = fixture();
  append('a', [written(3), written(4, 'k', 'hello')], 4);
  expect(states.cached('a')).toEqual({ state: { text: 'hello' }, revision: 4, eventId: 'event 4' });
  commit('a', folded(3));
  expect([states.cached('a')?.revision, states.key('a', 'k')?.key, reached]).toEqual([4, 'k', []]);
  at(130);
  commit('a', folded(4));
  expect([states.key('a', 'k'), reached]).toEqual([null, [30]]);
});

test('a later append keeps the keys before it, and an earlier state changes nothing', () => {
  const { states, append } = fixture();
  append('a', [written(4, 'k')], 4);
  append('a', [written(3, 'older')], 3);
  append('a', [written(5, 'l')], 5);
  expect(states.cached('a')?.revision).toBe(5);
  expect(['k', 'older', 'l'].map((key) => states.key('a', key)?.key)).toEqual(['k', undefined, 'l']);
});

test('asks the store for an event that the subscription passed without showing it', async () => {
  const { states, commit, at, append, inStore, other } = fixture();
  append('a', [written(0)], 0);
  commit('a', folded(0, 'another event 0'));
  inStore.set('a', [{ ...written(0), id: 'another event 0' }]);
  await states.mustHaveShown(100);
  expect(other).toEqual([]);
  at(200);
  await expect(states.mustHaveShown(101)).rejects.toThrow('it was restored');
  expect(other).toHaveLength(1);
});

const mayTake = (states: AccountStates<State>) => {
  try {
    states.assertNotTooFarAhead();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(ReadModelBehind);
    return false;
  }
};

test.each([
  ['streams', { streams: 2, characters: 1_000 }, ''],
  ['characters', { streams: 1_000, characters: 50 }, 'x'.repeat(20)],
])('takes no more commands where too many %s are ahead, until the subscription has come closer', (_, limits, text) => {
  const { states, commit, append } = fixture(limits);
  append('a', [written(0, undefined, text)], 0);
  expect(mayTake(states)).toBe(true);
  append('b', [written(0, undefined, text)], 0);
  expect(mayTake(states)).toBe(false);
  commit('a', folded(0));
  expect(mayTake(states)).toBe(true);
});
