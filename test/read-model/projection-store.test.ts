import type { RecordedEvent } from '../../src/ports/event-store.js';
import { type ProjectionState, type ProjectionStates, StatesDamaged } from '../../src/ports/projection-states.js';
import { compileProjection } from '../../src/read-model/projection-source.js';
import { ProjectionStore } from '../../src/read-model/projection-store.js';

const projection = compileProjection(
  'texts',
  `fromCategory('text').foreachStream().when({
    $init: () => ({ text: '' }),
    Written: (state, event) => ({ text: event.data.text }),
  });`,
);

function fixture() {
  const stored = new Map<string, ProjectionState>();
  const loads: string[] = [];
  const positions: (string | null)[] = [];
  const damages: StatesDamaged[] = [];
  const failures: Error[] = [];
  const keys = new Map<string, string>();
  const states: ProjectionStates = {
    open: () => null,
    history: null,
    load: (stream) => {
      loads.push(stream);
      return stored.get(stream);
    },
    all: () => [],
    setAside: () => new Map(),
    unsound: (cause) => new StatesDamaged('damaged', { cause }),
    key: (stream, key) => keys.get(`${stream} ${key}`),
    commit: ({ states: changed, keys: kept, position }) => {
      const [failure] = failures.splice(0);
      if (failure) throw failure;
      for (const [stream, state] of changed) stored.set(stream, state);
      for (const { stream, key, use } of kept) keys.set(`${stream} ${key}`, use);
      positions.push(position);
    },
    forgetKeys: () => undefined,
    close: () => undefined,
  };
  const folded = new ProjectionStore<{ text: string }>(
    projection,
    states,
    () => NOW,
    (error) => damages.push(error),
  );
  const fail = (error: Error) => void failures.push(error);
  return { folded, stored, loads, positions, damages, fail };
}

const NOW = Date.parse('2026-11-22T12:00:00.000Z');

const written = (stream: string, text: string, revision = 0) => ({
  ...{ stream, revision, position: `${stream} ${revision}`, id: `${stream} ${revision}` },
  ...{ type: 'Written', data: { text }, metadata: {} },
});

function give(folded: ProjectionStore<{ text: string }>, events: readonly RecordedEvent[]): void {
  folded.fold(events, events.at(-1)?.position ?? '');
}

test('what is folded is seen when it is committed, with the last position', () => {
  const { folded, stored, positions } = fixture();
  give(folded, [written('text-1', 'a')]);
  give(folded, [written('text-1', 'b', 1), written('text-2', 'c')]);
  expect([folded.current('text-1'), stored.size, positions]).toEqual([undefined, 0, []]);
  expect([...folded.commit().changed.keys()]).toEqual(['text-1', 'text-2']);
  expect(folded.current('text-1')).toEqual({ state: { text: 'b' }, revision: 1, eventId: 'text-1 1' });
  expect(positions).toEqual(['text-2 0']);
});

test('what could not be committed is committed with the next', () => {
  const { folded, stored, fail } = fixture();
  give(folded, [written('text-1', 'a')]);
  fail(new Error('disk full'));
  expect(() => folded.commit()).toThrow('disk full');
  give(folded, [written('text-2', 'b')]);
  expect([...folded.commit().changed.keys()]).toEqual(['text-1', 'text-2']);
  expect([...stored.keys()]).toEqual(['text-1', 'text-2']);
});

test('a stream that lacks an event in between is set aside', () => {
  const { folded } = fixture();
  give(folded, [written('text-1', 'a'), written('text-1', 'c', 2), written('text-2', 'b', 1)]);
  expect([...folded.commit().setAside]).toEqual([
    ['text-1', { why: 'its events before revision 2 are missing: deleted, expired or truncated' }],
    ['text-2', { why: 'its events before revision 1 are missing: deleted, expired or truncated' }],
  ]);
});

test('the key of an event is kept with its state, as long as a key counts on any clock', () => {
  const { folded } = fixture();
  const webhook = { id: 7, url: 'https://shop.example.com/a', createdAt: '2026-11-21T09:00:00.000Z' };
  const keyed = (key: string, hours: number, revision: number) => ({
    ...written('text-1', key, revision),
    metadata: { idempotency: { key, request: 'fingerprint', at: NOW - hours * 3_600_000, webhooks: [webhook] } },
  });
  give(folded, [keyed('old', 26, 0), keyed('new', 24, 1)]);
  expect(folded.key('text-1', 'new')).toBeNull();
  folded.commit();
  expect(folded.key('text-1', 'new')).toMatchObject({ key: 'new', request: 'fingerprint', eventType: 'Written' });
  expect([folded.key('text-1', 'old'), folded.key('text-2', 'new')]).toEqual([null, null]);
});

test('a stored state that is no JSON is damage, and is told', () => {
  const { folded, stored, damages } = fixture();
  stored.set('text-1', { revision: 0, eventId: 'id', json: '{"text": "cut o' });
  expect(() => folded.current('text-1')).toThrow(StatesDamaged);
  expect(damages).toHaveLength(1);
});

test('a key use that others wrote, nested too deeply to be stored, keeps nothing else from being committed', () => {
  const { folded, stored } = fixture();
  const nested: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
  for (const webhooks of [nested, [null], [{ id: 1, url: 'u', createdAt: 'c', nested }]]) {
    const idempotency = { key: 'k', request: 'r', at: NOW, webhooks };
    give(folded, [{ ...written('a', 'text'), metadata: { idempotency } }, written('b', 'text')]);
    folded.commit();
  }
  expect([...stored.keys()]).toEqual(['a', 'b']);
});
