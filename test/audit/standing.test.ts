import { describe, expect, test } from '@jest/globals';
import { decisive, type Standing } from '../../src/audit/standing.js';
import type { Outcome } from '../../src/delivery/delivery-log.js';

const stands = (outcome: Outcome, at: number, partition: number): Standing => ({ outcome, at, partition, next: 0 });

describe('of the last entries in several partitions', () => {
  test.each<readonly [string, readonly (readonly [Outcome, number])[], Outcome | null]>([
    ['none', [], null],
    ['one', [['retrying', 1]], 'retrying'],
    [
      'an end, and an earlier wait',
      [
        ['delivered', 2],
        ['retrying', 1],
      ],
      'delivered',
    ],
    [
      'an end, and a later wait: clocks differ',
      [
        ['delivered', 1],
        ['retrying', 2],
      ],
      'delivered',
    ],
    [
      'a wait, and an end read later',
      [
        ['retrying', 2],
        ['cancelled', 1],
      ],
      'cancelled',
    ],
    [
      'exhausted, and then replayed',
      [
        ['exhausted', 1],
        ['retrying', 2],
      ],
      'retrying',
    ],
    [
      'a wait, and then exhausted',
      [
        ['retrying', 1],
        ['exhausted', 2],
      ],
      'exhausted',
    ],
    [
      'a wait and the end of one millisecond',
      [
        ['retrying', 1],
        ['exhausted', 1],
      ],
      'exhausted',
    ],
    [
      'exhausted, replayed, delivered',
      [
        ['exhausted', 1],
        ['retrying', 2],
        ['delivered', 3],
      ],
      'delivered',
    ],
    [
      'two ends: the later',
      [
        ['delivered', 2],
        ['exhausted', 1],
      ],
      'delivered',
    ],
    [
      'two ends of one millisecond: the higher partition',
      [
        ['exhausted', 1],
        ['delivered', 1],
      ],
      'delivered',
    ],
  ])('%s decides, in whatever order they are read', (_, lasts, outcome) => {
    const standings = lasts.map(([kind, at], partition) => stands(kind, at, partition));
    expect(decisive(standings)?.outcome ?? null).toBe(outcome);
    expect(decisive(standings.toReversed())?.outcome ?? null).toBe(outcome);
  });

  test('of two waits it is the later', () => {
    expect(decisive([stands('retrying', 5, 0), stands('retrying', 4, 1)])).toMatchObject({ at: 5 });
  });
});
