import type { Folded } from '../../src/read-model/fold.js';
import type { Committed } from '../../src/read-model/projection-store.js';
import { RunningRecoveries } from '../../src/read-model/running-recoveries.js';
import type { AccountEvent } from '../../src/webhooks/events.js';
import { accountStream } from '../../src/webhooks/events.js';
import type { AccountState } from '../../src/webhooks/state.js';
import { AT, added, registered } from '../support/generators/webhook-samples.js';
import { ProjectionHostFixture, waitUntilProjected } from '../support/scenes/projection-host-fixture.js';

const request = { since: AT, until: AT, include: ['held'], perSecond: 20, count: 3, actor: 'a caller' };
const started = (recoveryId: string): AccountEvent => ({
  type: 'RecoveryStarted',
  data: { recoveryId, webhookIds: [7], ...request, startedAt: AT },
});
const ended = (recoveryId: string): AccountEvent => ({
  type: 'RecoveryEnded',
  data: { recoveryId, state: 'done', endedAt: AT, passedBy: 0 },
});
const never = new AbortController().signal;

let fixture: ProjectionHostFixture;
beforeEach(() => {
  fixture = new ProjectionHostFixture();
});
afterEach(() => fixture.close());

async function told() {
  let recoveries: RunningRecoveries | null = null;
  const onCommitted = (committed: Committed<AccountState>) => recoveries?.committed(committed);
  const host = fixture.host({ onCommitted });
  const known = new RunningRecoveries(host.known);
  recoveries = known;
  host.start('a history');
  await host.caughtUp;
  return { host, known, now: () => known.now().map(({ accountId, recovery }) => [accountId, recovery.id]) };
}

it('knows a recovery as long as it runs', async () => {
  const { host, now } = await told();
  await fixture.append(1, [registered(1), added(7), started('one')]);
  await fixture.append(2, [registered(2)]);
  await waitUntilProjected(host, 2, 0);
  expect(now()).toEqual([[1, 'one']]);
  await fixture.append(1, [ended('one')], 2);
  await waitUntilProjected(host, 1, 3);
  expect(now()).toEqual([]);
});

it('finds one that started before this process only by a scan', async () => {
  await fixture.append(1, [registered(1), added(7), started('one')]);
  await fixture.append(2, [registered(2), added(7), started('two'), ended('two')]);
  await fixture.started();
  await fixture.stopHosts();
  const { known, now } = await told();
  expect(now()).toEqual([]);
  await known.scan(never);
  expect(now()).toEqual([[1, 'one']]);
});

it('leaves out what ended while it was scanned', async () => {
  const running = { 'account-webhooks': { accountId: 1, recoveries: [{ id: 'one', state: 'running' }] } };
  const over = { 'account-webhooks': { accountId: 1, recoveries: [{ id: 'one', state: 'done' }] } };
  const folded = { state: over, revision: 1, eventId: 'e' } as unknown as Folded<AccountState>;
  const known = new RunningRecoveries({
    setAside: new Map(),
    all: () => [[accountStream(1), running as unknown as AccountState]],
    cached: () => folded,
  });
  await known.scan(never);
  expect(known.now()).toEqual([]);
});
