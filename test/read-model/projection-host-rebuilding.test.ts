import { copyFileSync, readFileSync, renameSync } from 'node:fs';
import { combined, compileProjection, loadProjection } from '../../src/read-model/projection-source.js';
import { accountStream } from '../../src/webhooks/events.js';
import { added, registered } from '../support/generators/webhook-samples.js';
import { HISTORY, PROJECTION, ProjectionHostFixture } from '../support/scenes/projection-host-fixture.js';

let fixture: ProjectionHostFixture;
beforeEach(() => {
  fixture = new ProjectionHostFixture();
});
afterEach(() => fixture.close());

async function appendSomeAccounts(): Promise<void> {
  for (let accountId = 1; accountId <= 20; accountId += 1) {
    await fixture.append(accountId, [registered(accountId), added(accountId * 10), added(accountId * 10 + 1)]);
    await fixture.append(accountId, [{ type: 'WebhookDeactivated', data: deactivation(accountId * 10) }], 2);
  }
}

const deactivation = (webhookId: number) => ({ webhookId, reason: 'gone', deactivatedAt: '2026-11-03T11:00:00.000Z' });

it('is rebuilt, byte by byte the same, after its file was deleted', async () => {
  await appendSomeAccounts();
  await fixture.started();
  const before = fixture.stored;
  await fixture.reopenStates(() => fixture.remove('read-model.sqlite'));
  expect(fixture.stored).toBe('[]');
  await fixture.started();
  expect(fixture.stored).toBe(before);
  expect([...fixture.states.all()]).toHaveLength(20);
});

it('is rebuilt when its source changes', async () => {
  await fixture.append(1, [registered(1), added(7)]);
  await fixture.started();
  await fixture.stopHosts();
  const file = new URL('../../projections/account-webhooks.js', import.meta.url);
  const source = readFileSync(file, 'utf8').replace('isActive: true', 'isActive: false');
  const changed = combined([compileProjection('account-webhooks', source), loadProjection('account-credentials')]);
  expect(changed.version).not.toBe(PROJECTION.version);
  const running = await fixture.started({ projection: changed });
  expect(running.known.cached(accountStream(1))?.state['account-webhooks'].webhooks).toMatchObject([
    { id: 7, isActive: false },
  ]);
});

it('is lost where the store was restored from a backup, also where it has gone on since', async () => {
  await fixture.append(1, [registered(1)]);
  const file = fixture.path('store.sqlite');
  await fixture.reopenStore(() => copyFileSync(file, `${file}.backup`));
  await fixture.append(1, [added(7), added(8)], 0);
  await fixture.started();
  await fixture.reopenStore(() => {
    fixture.remove('store.sqlite', ['-wal', '-shm']);
    renameSync(`${file}.backup`, file);
  });
  const shorter = fixture.host();
  shorter.start(HISTORY);
  await expect(shorter.lost).rejects.toThrow('the event store ends earlier than before');
  // As many events as were lost, so that every place the read model knows of is there again.
  await fixture.append(2, [registered(2), added(9)]);
  const other = fixture.host();
  other.start(HISTORY);
  await expect(other.lost).rejects.toThrow('the event store has other events than before');
});

it('of another accepted history it is rebuilt without a question', async () => {
  await fixture.append(1, [registered(1), added(7)]);
  await fixture.started();
  await fixture.reopenStore(() => fixture.remove('store.sqlite'));
  await fixture.append(2, [registered(2)]);
  const host = fixture.host();
  host.start('another history');
  await host.caughtUp;
  expect(host.known.cached(accountStream(1))).toBeUndefined();
  expect(host.known.cached(accountStream(2))?.state['account-webhooks'].accountId).toBe(2);
});
