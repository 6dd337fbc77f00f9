import { randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { openProjectionStates } from '../../src/adapters/sqlite/projection-states.js';
import { type EventStore, NO_STREAM, type SubscribeOptions, UnknownPosition } from '../../src/ports/event-store.js';
import { type ProjectionStates, StatesDamaged } from '../../src/ports/projection-states.js';
import { ProjectionHost } from '../../src/read-model/projection-host.js';
import { compileProjection, loadProjection, type Projection } from '../../src/read-model/projection-source.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../../src/webhooks/events.js';
import type { AccountWebhooks } from '../../src/webhooks/state.js';
import { eventually } from '../support/eventually.js';
import { recordingLogger } from '../support/recording-logger.js';
import { openSqliteStore } from '../support/sqlite-store.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { added, CONTEXT, registered } from '../support/webhook-samples.js';

const PROJECTION = loadProjection('account-webhooks');
const WAIT_MS = 5_000;

let directory: ReturnType<typeof temporaryDirectory>;
let opened: ReturnType<typeof openSqliteStore>;
let states: ProjectionStates;
let logger: ReturnType<typeof recordingLogger>;
let hosts: ProjectionHost<AccountWebhooks>[];

beforeEach(() => {
  directory = temporaryDirectory();
  opened = openSqliteStore(directory.path);
  states = openProjectionStates(directory.path, () => undefined);
  logger = recordingLogger();
  hosts = [];
});

afterEach(async () => {
  await stopHosts();
  states.close();
  await opened.close();
  directory.remove();
});

async function stopHosts(): Promise<void> {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
}

function host(parts: { projection?: Projection; store?: EventStore; states?: ProjectionStates } = {}) {
  const common = { projection: PROJECTION, store: opened.store, states, logger, now: () => performance.now() };
  const made = new ProjectionHost<AccountWebhooks>({ ...common, ...parts });
  hosts.push(made);
  return made;
}

async function started(parts: Parameters<typeof host>[0] = {}) {
  const made = host(parts);
  made.start();
  await made.caughtUp;
  return made;
}

const append = (accountId: number, events: AccountEvent[], revision = NO_STREAM) =>
  opened.store.append(accountStream(accountId), enveloped(events, CONTEXT, randomUUID), revision);

async function appendSomeAccounts(): Promise<void> {
  for (let accountId = 1; accountId <= 20; accountId += 1) {
    await append(accountId, [registered(accountId), added(accountId * 10), added(accountId * 10 + 1)]);
    await append(accountId, [{ type: 'WebhookDeactivated', data: deactivation(accountId * 10) }], 2);
  }
}

const deactivation = (webhookId: number) => ({ webhookId, reason: 'gone', deactivatedAt: '2026-11-03T11:00:00.000Z' });

const stored = () => JSON.stringify([...states.all(PROJECTION.name)]);

async function reopenWithout(file: string): Promise<void> {
  await stopHosts();
  states.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(directory.path, file + suffix), { force: true });
  states = openProjectionStates(directory.path, () => undefined);
}

it('shows an event once it has passed', async () => {
  const running = await started();
  const { revision } = await append(1, [registered(1), added(7)]);
  expect(await running.passed(accountStream(1), revision, WAIT_MS)).toBe(true);
  expect(running.current(accountStream(1))).toMatchObject({
    revision: 1,
    state: { accountId: 1, webhooks: [{ id: 7 }] },
  });
  expect(await running.passed(accountStream(1), revision, 0)).toBe(true);
});

it('says so where an event did not pass in time', async () => {
  const running = await started();
  expect(await running.passed(accountStream(1), 0, 1)).toBe(false);
});

it('what was handed out stays as it was', async () => {
  const running = await started();
  const first = await append(1, [registered(1)]);
  await running.passed(accountStream(1), first.revision, WAIT_MS);
  const before = running.current(accountStream(1));
  await append(1, [added(7)], 0);
  await running.passed(accountStream(1), 1, WAIT_MS);
  expect(before).toMatchObject({ revision: 0, state: { webhooks: [] } });
});

it('is rebuilt, byte by byte the same, after its file was deleted', async () => {
  await appendSomeAccounts();
  await started();
  const before = stored();
  await reopenWithout('read-model.sqlite');
  expect(stored()).toBe('[]');
  await started();
  expect(stored()).toBe(before);
  expect([...states.all(PROJECTION.name)]).toHaveLength(20);
});

it('goes on after the last commit, and folds nothing twice', async () => {
  await appendSomeAccounts();
  await started();
  await stopHosts();
  await append(1, [added(99)], 3);
  const asked: SubscribeOptions[] = [];
  const { store } = opened;
  const subscribe = (options: SubscribeOptions) => {
    asked.push(options);
    return store.subscribe(options);
  };
  const running = await started({ store: { ...bound(store), subscribe } });
  expect(asked[0]?.after).toEqual(expect.any(String));
  expect(running.current(accountStream(1))?.state.webhooks.map(({ id }) => id)).toEqual([10, 11, 99]);
});

it('is rebuilt when its source changes', async () => {
  await append(1, [registered(1), added(7)]);
  await started();
  await stopHosts();
  const file = new URL('../../projections/account-webhooks.js', import.meta.url);
  const source = readFileSync(file, 'utf8').replace('isActive: true', 'isActive: false');
  const changed = compileProjection('account-webhooks', source);
  expect(changed.version).not.toBe(PROJECTION.version);
  const running = await started({ projection: changed });
  expect(running.current(accountStream(1))?.state.webhooks).toMatchObject([{ id: 7, isActive: false }]);
});

it('is rebuilt, with a warning, where the store is another one', async () => {
  await append(1, [registered(1), added(7)]);
  await started();
  await stopHosts();
  await opened.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(directory.path, `store.sqlite${suffix}`), { force: true });
  opened = openSqliteStore(directory.path);
  await append(2, [registered(2)]);
  const running = await started();
  expect(logger.warnings).toHaveLength(1);
  expect(running.current(accountStream(1))).toBeUndefined();
  expect(running.current(accountStream(2))?.state.accountId).toBe(2);
});

it('is rebuilt, with a warning, where the store was restored from a backup and has gone on since', async () => {
  await append(1, [registered(1)]);
  await opened.close();
  const file = join(directory.path, 'store.sqlite');
  copyFileSync(file, `${file}.backup`);
  opened = openSqliteStore(directory.path);
  await append(1, [added(7), added(8)], 0);
  await started();
  await stopHosts();
  await opened.close();
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  renameSync(`${file}.backup`, file);
  opened = openSqliteStore(directory.path);
  // As many events as were lost, so that every place the read model knows of is there again.
  await append(2, [registered(2), added(9)]);
  const running = await started();
  expect(logger.warnings).toHaveLength(1);
  expect(running.current(accountStream(1))?.state.webhooks).toEqual([]);
  expect(running.current(accountStream(2))?.state.webhooks).toMatchObject([{ id: 9 }]);
});

it('what is fresh is read from the store only as far as it is not folded here', async () => {
  const first = await append(1, [registered(1), added(7)]);
  const asked: unknown[] = [];
  const read: EventStore['read'] = (stream, from) => {
    asked.push(from);
    return opened.store.read(stream, from);
  };
  const running = await started({ store: { ...bound(opened.store), read } });
  expect(await running.fresh(accountStream(1))).toMatchObject({ revision: first.revision });
  expect(await running.fresh(accountStream(2))).toBeUndefined();
  expect(asked).toEqual([2, 0]);
});

it('looks a stream it does not know yet up in the store', async () => {
  const notStarted = host();
  await append(1, [registered(1), added(7)]);
  expect(notStarted.current(accountStream(1))).toBeUndefined();
  expect(await notStarted.find(accountStream(1))).toMatchObject({ revision: 1, state: { webhooks: [{ id: 7 }] } });
  expect(await notStarted.find(accountStream(2))).toBeUndefined();
});

it('recovers from a commit that failed', async () => {
  const running = await started({ states: failingOnce(states, new Error('disk full')) });
  const { revision } = await append(1, [registered(1), added(7)]);
  expect(await running.passed(accountStream(1), revision, WAIT_MS)).toBe(true);
  expect(running.current(accountStream(1))?.state.webhooks).toHaveLength(1);
  expect(logger.errors).toHaveLength(1);
  await eventually(() => running.isLive);
});

it('is lost, and folds no further, where its states turn out to be damaged', async () => {
  const running = await started({ states: failingOnce(states, new StatesDamaged('the file is damaged')) });
  await append(1, [registered(1)]);
  await expect(running.lost).rejects.toThrow(StatesDamaged);
  await eventually(() => !running.isLive);
  expect(running.current(accountStream(1))).toBeUndefined();
});

it('is lost where the store becomes one of another history while it is live', async () => {
  const connection = new AbortController();
  let subscriptions = 0;
  const subscribe = (options: SubscribeOptions) => {
    subscriptions += 1;
    if (subscriptions > 1) throw new UnknownPosition(String(options.after));
    return opened.store.subscribe({ ...options, signal: AbortSignal.any([options.signal, connection.signal]) });
  };
  const running = await started({ store: { ...bound(opened.store), subscribe } });
  await append(1, [registered(1)]);
  await running.passed(accountStream(1), 0, WAIT_MS);
  connection.abort();
  await expect(running.lost).rejects.toThrow(UnknownPosition);
  expect(stored()).toBe('[]');
});

it('ends what waits when it is closed, and can be closed twice', async () => {
  const running = await started();
  const waiting = running.passed(accountStream(1), 0, 60_000);
  await running.close();
  await running.close();
  expect(await waiting).toBe(false);
});

function failingOnce(real: ProjectionStates, failure: Error): ProjectionStates {
  let failed = false;
  return {
    open: (...args) => real.open(...args),
    load: (...args) => real.load(...args),
    all: (...args) => real.all(...args),
    reset: (...args) => real.reset(...args),
    close: () => real.close(),
    commit(...args) {
      if (failed) return real.commit(...args);
      failed = true;
      throw failure;
    },
  };
}

function bound(store: EventStore): EventStore {
  return {
    append: (...args) => store.append(...args),
    read: (...args) => store.read(...args),
    subscribe: (...args) => store.subscribe(...args),
    close: () => store.close(),
  };
}
