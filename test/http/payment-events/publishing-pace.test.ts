import { PublishingPace } from '../../../src/http/payment-events/publishing-pace.js';
import { eventually } from '../../support/clocks/eventually.js';

const KEEPS_UP = 0;
const BEHIND = 101;

function paceOf(behindMs: () => number, stopping = new AbortController().signal): PublishingPace {
  return new PublishingPace({ behindMs, stopping });
}

it('events are admitted at once while the dispatcher keeps up', () => {
  const pace = paceOf(() => KEEPS_UP);
  expect([pace.admit(1), pace.admit(498), pace.admit(1)]).toEqual([undefined, undefined, undefined]);
});

it('further ones wait for the next look', async () => {
  const pace = paceOf(() => KEEPS_UP);
  expect(pace.admit(500)).toBeUndefined();
  await pace.admit(1);
});

it('they wait while the dispatcher is behind, and are admitted in order', async () => {
  let behindMs = BEHIND;
  const pace = paceOf(() => behindMs);
  const admitted: number[] = [];
  const waiting = [1, 2, 3].map((n) => pace.admit(1)?.then(() => admitted.push(n)));
  expect(waiting).not.toContain(undefined);
  behindMs = KEEPS_UP;
  await Promise.all(waiting);
  expect(admitted).toEqual([1, 2, 3]);
  await eventually(() => pace.admit(1) === undefined);
});

it('they are admitted in the end though the dispatcher stands still', async () => {
  const pace = paceOf(() => BEHIND);
  await Promise.all([pace.admit(1), pace.admit(500)]);
});

it('a stop admits them', async () => {
  const stopping = new AbortController();
  const pace = paceOf(() => BEHIND, stopping.signal);
  const waiting = pace.admit(1);
  expect(waiting).toBeDefined();
  stopping.abort();
  expect(pace.admit(501)).toBeDefined();
  await waiting;
  await eventually(() => pace.admit(501) === undefined);
});
