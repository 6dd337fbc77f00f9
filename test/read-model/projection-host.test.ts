import { randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync } from 'node:fs';
import { type EventStore, NO_STREAM, type SubscribeOptions } from '../../src/ports/event-store.js';
import {
  combined,
  compileProjection,
  loadProjection,
  type Projection,
} from '../../src/read-model/projection-source.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { eventually } from '../support/clocks/eventually.js';
import { spin } from '../support/clocks/spin.js';
import { added, CONTEXT, registered } from '../support/generators/webhook-samples.js';
import {
  HISTORY,
  PROJECTION,
  ProjectionHostFixture,
  waitUntilProjected,
} from '../support/scenes/projection-host-fixture.js';
import { bound } from '../support/servers/bound-store.js';

let fixture: ProjectionHostFixture;
beforeEach(() => {
  fixture = new ProjectionHostFixture();
});
afterEach(() => fixture.close());

it('what was handed out stays as it was', async () => {
  const running = await fixture.started();
  const first = await fixture.append(1, [registered(1)]);
  await waitUntilProjected(running, 1, first.revision);
  const before = running.known.cached(accountStream(1));
  await fixture.append(1, [added(7)], 0);
  await waitUntilProjected(running, 1, 1);
  expect(before).toMatchObject({ revision: 0, state: { 'account-webhooks': { webhooks: [] } } });
});

it('what is fresh is read from the store only as far as it is not folded here', async () => {
  const first = await fixture.append(1, [registered(1), added(7)]);
  const asked: unknown[] = [];
  const read: EventStore['read'] = (stream, from) => {
    asked.push(from);
    return fixture.store.read(stream, from);
  };
  let mayHaveMore = false;
  const endsWith: EventStore['endsWith'] = async (...args) => !mayHaveMore && fixture.store.endsWith(...args);
  const running = await fixture.started({ store: { ...bound(fixture.store), read, endsWith } });
  expect(await running.known.latest(accountStream(1))).toMatchObject({ revision: first.revision });
  expect(asked).toEqual([]);
  mayHaveMore = true;
  expect(await running.known.latest(accountStream(1))).toMatchObject({ revision: first.revision });
  expect(await running.known.latest(accountStream(2))).toBeUndefined();
  // The last event known is read again: it tells the history.
  expect(asked).toEqual([1, 0]);
});

it('looks a stream it does not know yet up in the store', async () => {
  const notStarted = fixture.host();
  await fixture.append(1, [registered(1), added(7)]);
  expect(notStarted.known.cached(accountStream(1))).toBeUndefined();
  expect(await notStarted.known.find(accountStream(1))).toMatchObject({
    revision: 1,
    state: { 'account-webhooks': { webhooks: [{ id: 7 }] } },
  });
  expect(await notStarted.known.find(accountStream(2))).toBeUndefined();
});

it('keeps a place that was passed without an event: the next start goes on there', async () => {
  const first = await fixture.started();
  await fixture.store.append('foreign', enveloped([registered(9)], CONTEXT, randomUUID), NO_STREAM);
  const head = await fixture.store.head();
  await eventually(() => {
    first.head.saw(head, 0);
    return first.progress.behindMs === 0;
  });
  await fixture.stopHosts();
  const after: (string | null)[] = [];
  const subscribe = (options: SubscribeOptions) => {
    after.push(options.after);
    return fixture.store.subscribe(options);
  };
  await fixture.started({ store: { ...bound(fixture.store), subscribe } });
  expect(fixture.store.isAtOrAfter(after[0] ?? '', head)).toBe(true);
});

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

it('serves others while it folds a batch of events that take long', async () => {
  await fixture.append(42, [registered(42), ...Array.from({ length: 50 }, (_, n) => added(n + 1))]);
  let foldedInATick = 0;
  let mostInATick = 0;
  const fold: Projection['fold'] = (state, event) => {
    if (foldedInATick === 0) {
      setImmediate(() => {
        foldedInATick = 0;
      });
    }
    foldedInATick += 1;
    mostInATick = Math.max(mostInATick, foldedInATick);
    spin(2);
    return PROJECTION.fold(state, event);
  };
  await fixture.started({ projection: { ...PROJECTION, fold } });
  expect(mostInATick).toBeLessThan(10);
});
