import type { Outcome, WaitingFor } from '../../src/ports/delivery-order.js';
import { shownWait } from '../../src/ports/shown-wait.js';

const NOW = Date.parse('2026-11-21T09:00:00.000Z');
const [PAST, PRESENT, FUTURE] = [-1, 0, 1].map((ms) => new Date(NOW + ms).toISOString()) as [string, string, string];

test.each<[Outcome, string | null, WaitingFor | null | undefined, string | null, WaitingFor | null]>([
  ['retrying', FUTURE, null, FUTURE, 'schedule'],
  ['retrying', FUTURE, 'endpoint-paused', FUTURE, 'schedule'],
  ['retrying', PRESENT, null, null, 'queue'],
  ['retrying', PAST, undefined, null, 'queue'],
  ['retrying', PAST, 'schedule', null, 'queue'],
  ['retrying', PAST, 'endpoint-failing', null, 'endpoint-failing'],
  ['retrying', null, null, null, 'queue'],
  ['retrying', null, 'queue', null, 'queue'],
  ['retrying', null, 'endpoint-failing', null, 'endpoint-failing'],
  ['retrying', null, 'endpoint-paused', null, 'endpoint-paused'],
  ['delivered', null, null, null, null],
  ['exhausted', FUTURE, 'queue', null, null],
  ['cancelled', null, 'endpoint-failing', null, null],
])('%s, next attempt %s, waiting for %s: shown as %s, %s', (outcome, next, reason, nextAttemptAt, waitingFor) => {
  expect(shownWait({ outcome, nextAttemptAt: next, waitingFor: reason }, NOW)).toEqual({ nextAttemptAt, waitingFor });
});
