/** Where a delivery stands on its screen. */
import { phaseOf } from '../../src/console/delivery/phase.js';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const [AHEAD, PASSED] = ['2026-11-20T12:05:00.000Z', '2026-11-20T10:00:00.000Z'];
const ASKED = { attempts: 1, until: NOW + 1_000 };
const WAITING = {
  outcome: 'retrying',
  held: false,
  sentAgain: false,
  attempts: [{}],
  nextAttemptAt: AHEAD,
  waitingFor: 'schedule',
} as unknown as Parameters<typeof phaseOf>[0];
const delivered = { ...WAITING, outcome: 'delivered', nextAttemptAt: null, waitingFor: null } as const;
const healthy = { state: 'healthy' } as const;
const failing = { state: 'failing' } as const;

it.each([
  ['waits for its next attempt', WAITING, healthy, null, { kind: 'waiting', at: AHEAD, why: 'queue', isAgain: false }],
  ['has no time that has passed', { ...WAITING, nextAttemptAt: PASSED }, healthy, null, { kind: 'waiting', at: null }],
  ['waits in the queue', { ...WAITING, nextAttemptAt: null, waitingFor: 'queue' }, healthy, null, { why: 'queue' }],
  ['waits for a URL that fails', { ...WAITING, nextAttemptAt: null }, failing, null, { why: 'endpoint-failing' }],
  ['is sent once it was asked for', WAITING, healthy, ASKED, { kind: 'sending' }],
  ['is not sent at once to a URL that fails', WAITING, failing, ASKED, { kind: 'waiting' }],
  [
    'is not sent at once to a URL that is paused',
    { ...WAITING, waitingFor: 'endpoint-paused' },
    healthy,
    ASKED,
    { kind: 'waiting' },
  ],
  ['is no longer sent once it was tried', { ...delivered, attempts: [{}, {}] }, healthy, ASKED, { kind: 'delivered' }],
  ['is no longer awaited after a while', WAITING, healthy, { attempts: 1, until: NOW }, { kind: 'waiting' }],
  ['is sent again after it had arrived', { ...delivered, sentAgain: true }, healthy, null, { kind: 'sending' }],
  [
    'waits to be sent again to a URL that fails',
    { ...delivered, sentAgain: true },
    failing,
    null,
    { kind: 'waiting', isAgain: true },
  ],
  ['is held', { ...WAITING, outcome: 'exhausted', held: true }, undefined, null, { kind: 'held' }],
  ['is given up', { ...WAITING, outcome: 'exhausted' }, undefined, null, { kind: 'exhausted' }],
  ['is cancelled', { ...WAITING, outcome: 'cancelled' }, undefined, null, { kind: 'cancelled' }],
])('%s', (_, delivery, health, asked, expected) => {
  expect(phaseOf(delivery as typeof WAITING, health, asked, NOW)).toMatchObject(expected);
});
