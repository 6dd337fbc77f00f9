import { compileProjection } from '../../src/read-model/projection-source.js';

const counting = `fromCategory('order').foreachStream().when({
  $init: () => ({ count: 0 }),
  Placed: (state) => ({ count: state.count + 1 }),
})`;

const event = (type: string) => ({
  ...{ id: 'e', type, data: {}, metadata: {} },
  ...{ stream: 'order-1', revision: 0, position: '1' },
});

describe('a source in the projection language', () => {
  const projection = compileProjection('counting', counting);

  it('folds the events that it has handlers for', () => {
    expect(projection.streamPrefix).toBe('order-');
    expect(projection.fold(projection.init(), event('Placed'))).toEqual({ count: 1 });
  });

  it.each(['Shipped', '$init', 'toString', '__proto__', 'constructor'])('leaves the state as it is at %s', (type) => {
    const state = { count: 3 };
    expect(projection.fold(state, event(type))).toBe(state);
  });

  it('hands its handlers an event’s data and id by EventStoreDB’s names, and nothing else', () => {
    const source = `fromCategory('order').foreachStream().when({
      $init: () => ({ got: null }),
      Placed: (_, event) => ({ got: event }),
    })`;
    const placed = { ...event('Placed'), data: { amount: 1 }, metadata: { actor: 'a' } };
    const state = compileProjection('keeping', source).fold({ got: null }, placed);
    expect(state).toEqual({ got: { data: { amount: 1 }, eventId: 'e' } });
  });

  it('has a version that changes with every change of the source', () => {
    expect(compileProjection('counting', counting).version).toBe(projection.version);
    expect(compileProjection('counting', `${counting} `).version).not.toBe(projection.version);
  });
});

it.each([
  ['does not compile', 'fromCategory('],
  ['folds no category', '1 + 1'],
  ['has no $init', "fromCategory('order').foreachStream().when({})"],
])('a source that %s is refused', (_, source) => {
  expect(() => compileProjection('bad', source)).toThrow();
});
