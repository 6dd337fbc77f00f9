import { RecentlyUsed } from '../../src/console/state/recently-used.js';

interface Value {
  readonly name: string;
  isPinned: boolean;
}

function kept(most: number) {
  const values = new RecentlyUsed<Value>(most, ({ isPinned }) => isPinned);
  let made = 0;
  const make = (name: string) => () => {
    made += 1;
    return { name, isPinned: false };
  };
  return { use: (name: string) => values.of(name, make(name)), made: () => made };
}

it('returns the value that it has', () => {
  const { use } = kept(2);
  expect(use('a')).toBe(use('a'));
});

it('drops what was used longest ago, not what was made first', () => {
  const { use } = kept(2);
  const [first, second] = [use('a'), use('b')];
  use('a');
  use('c');
  expect(use('a')).toBe(first);
  expect(use('b')).not.toBe(second);
});

it('drops no value that is pinned, nor, for those that are, the one that it just made', () => {
  const { use } = kept(1);
  const first = use('a');
  first.isPinned = true;
  const second = use('b');
  expect(use('a')).toBe(first);
  expect(use('b')).toBe(second);
});

it('drops those above the number once they are no longer pinned', () => {
  const { use, made } = kept(1);
  const first = use('a');
  first.isPinned = true;
  use('b');
  first.isPinned = false;
  use('c');
  expect(use('a')).not.toBe(first);
  expect(made()).toBe(4);
});
