import { EventEmitter, once } from 'node:events';
import { StoreRefused, StoreUnavailable, type SubscribeOptions } from '../../src/ports/event-store.js';
import { type ProjectionStates, StatesDamaged } from '../../src/ports/projection-states.js';
import { accountStream } from '../../src/webhooks/events.js';
import { eventually } from '../support/clocks/eventually.js';
import { added, registered } from '../support/generators/webhook-samples.js';
import { ProjectionHostFixture, waitUntilProjected } from '../support/scenes/projection-host-fixture.js';
import { bound } from '../support/servers/bound-store.js';

let fixture: ProjectionHostFixture;
beforeEach(() => {
  fixture = new ProjectionHostFixture();
});
afterEach(() => fixture.close());

it('recovers from a commit that failed', async () => {
  const running = await fixture.started({ states: failingOnce(fixture.states, new Error('disk full')) });
  const { revision } = await fixture.append(1, [registered(1), added(7)]);
  await waitUntilProjected(running, 1, revision);
  expect(running.known.cached(accountStream(1))?.state['account-webhooks'].webhooks).toHaveLength(1);
  expect(fixture.logger.errors).toHaveLength(1);
  await eventually(() => running.progress.kind === 'live');
});

it('is lost, and folds no further, where its states turn out to be damaged', async () => {
  const running = await fixture.started({
    states: failingOnce(fixture.states, new StatesDamaged('the file is damaged')),
  });
  await fixture.append(1, [registered(1)]);
  await expect(running.lost).rejects.toThrow(StatesDamaged);
  await eventually(() => running.progress.kind !== 'live');
  expect(running.known.cached(accountStream(1))).toBeUndefined();
});

it('is lost where the store refuses it, also while it is live', async () => {
  let subscriptions = 0;
  const connection = new AbortController();
  const subscribe = (options: SubscribeOptions) => {
    subscriptions += 1;
    if (subscriptions > 1) throw new StoreRefused('the password was changed');
    return fixture.store.subscribe({ ...options, signal: AbortSignal.any([options.signal, connection.signal]) });
  };
  const running = await fixture.started({ store: { ...bound(fixture.store), subscribe } });
  connection.abort();
  await expect(running.lost).rejects.toThrow(StoreRefused);
});

it('makes a subscription again that stands still behind a head of the store', async () => {
  let now = 0;
  let subscriptions = 0;
  const silent = new EventEmitter();
  async function* subscribe(options: SubscribeOptions) {
    subscriptions += 1;
    if (subscriptions > 1) return yield* fixture.store.subscribe(options);
    yield { events: [], position: await fixture.store.head(), caughtUp: true };
    await once(silent, 'never', { signal: options.signal }).catch(() => undefined);
  }
  const running = await fixture.started({ store: { ...bound(fixture.store), subscribe }, now: () => now });
  await fixture.append(1, [registered(1)]);
  const head = await fixture.store.head();
  for (const ms of [2_000, 4_000, 6_000]) {
    now = ms;
    running.head.saw(head, now);
    expect([subscriptions, running.progress.behindMs]).toEqual([1, ms - 2_000]);
  }
  now = 8_000;
  running.head.saw(head, now);
  await waitUntilProjected(running, 1, 0);
  expect(subscriptions).toBe(2);
  await eventually(() => running.progress.kind === 'live');
  running.head.saw(head, now);
  expect(running.progress.behindMs).toBe(0);
});

it('passes no head while its states take no writes, and all of them afterwards', async () => {
  const full = { is: false };
  const states = withCommit(fixture.states, (changes) => {
    if (full.is) throw new Error('disk full');
    fixture.states.commit(changes);
  });
  const running = await fixture.started({ states });
  await running.passHead(AbortSignal.timeout(5_000));
  full.is = true;
  await fixture.append(1, [registered(1), added(7)]);
  await expect(running.passHead(AbortSignal.timeout(30_000))).rejects.toThrow(StoreUnavailable);
  await eventually(() => fixture.logger.errors.length > 0);
  full.is = false;
  await running.passHead(AbortSignal.timeout(30_000));
  expect(running.known.cached(accountStream(1))?.revision).toBe(1);
});

function failingOnce(real: ProjectionStates, failure: Error): ProjectionStates {
  let failed = false;
  return withCommit(real, (...args) => {
    if (failed || args[0].states.size === 0) return real.commit(...args);
    failed = true;
    throw failure;
  });
}

function withCommit(real: ProjectionStates, commit: ProjectionStates['commit']): ProjectionStates {
  return {
    history: real.history,
    open: (...args) => real.open(...args),
    load: (...args) => real.load(...args),
    all: () => real.all(),
    setAside: () => real.setAside(),
    unsound: (...args) => real.unsound(...args),
    key: (...args) => real.key(...args),
    forgetKeys: (...args) => real.forgetKeys(...args),
    close: () => real.close(),
    commit,
  };
}
