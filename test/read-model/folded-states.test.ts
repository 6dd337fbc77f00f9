import { expect, test } from '@jest/globals';
import type { ProjectionState, ProjectionStates } from '../../src/ports/projection-states.js';
import { FoldedStates } from '../../src/read-model/folded-states.js';
import { compileProjection } from '../../src/read-model/projection-source.js';

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
  const positions: string[] = [];
  const states: ProjectionStates = {
    open: () => null,
    load: (_, stream) => {
      loads.push(stream);
      return stored.get(stream);
    },
    all: () => [],
    commit: (_, changed, position) => {
      for (const [stream, state] of changed) stored.set(stream, state);
      positions.push(position);
    },
    reset: () => stored.clear(),
    close: () => undefined,
  };
  const folded = new FoldedStates<{ text: string }>(projection, states, () => undefined);
  return { folded, stored, loads, positions };
}

const written = (stream: string, text: string, revision = 0) => ({
  ...{ stream, revision, position: `${stream} ${revision}`, id: `${stream} ${revision}` },
  ...{ type: 'Written', data: { text }, metadata: {} },
});

test('what is folded is seen when it is committed, with the last position', () => {
  const { folded, stored, positions } = fixture();
  folded.fold([written('text-1', 'a')]);
  folded.fold([written('text-1', 'b', 1), written('text-2', 'c')]);
  expect([folded.current('text-1'), stored.size, positions]).toEqual([undefined, 0, []]);
  expect([...folded.commit().keys()]).toEqual(['text-1', 'text-2']);
  expect(folded.current('text-1')).toEqual({ state: { text: 'b' }, revision: 1 });
  expect(positions).toEqual(['text-2 0']);
});

test('what was folded and not committed is forgotten where it begins again', () => {
  const { folded, positions } = fixture();
  folded.fold([written('text-1', 'a')]);
  folded.open();
  expect(folded.commit().size).toBe(0);
  expect(positions).toEqual([]);
  folded.fold([written('text-1', 'b')]);
  folded.commit();
  expect(folded.current('text-1')?.state).toEqual({ text: 'b' });
});

test('states are kept in memory by their length: a few long ones do not stay', () => {
  const { folded, loads } = fixture();
  const long = 'x'.repeat(1.5 * 1024 * 1024);
  for (const stream of ['text-1', 'text-2', 'text-3', 'text-4']) {
    folded.fold([written(stream, stream === 'text-4' ? 'short' : long)]);
    folded.commit();
  }
  loads.length = 0;
  for (const stream of ['text-4', 'text-3', 'text-1']) folded.current(stream);
  expect(loads).toEqual(['text-1']);
});
