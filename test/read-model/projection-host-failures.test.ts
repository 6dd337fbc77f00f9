import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type SubscribeOptions, UnknownPosition } from '../../src/ports/event-store.js';
import { type ProjectionStates, StatesDamaged } from '../../src/ports/projection-states.js';
import { accountStream } from '../../src/webhooks/events.js';
import { eventually } from '../support/eventually.js';
import { bound, ProjectionHostFixture, WAIT_MS } from '../support/projection-host-fixture.js';
import { added, registered } from '../support/webhook-samples.js';

let fixture: ProjectionHostFixture;
beforeEach(() => {
  fixture = new ProjectionHostFixture();
});
afterEach(() => fixture.close());

it('recovers from a commit that failed', async () => {
  const running = await fixture.started({ states: failingOnce(fixture.states, new Error('disk full')) });
  const { revision } = await fixture.append(1, [registered(1), added(7)]);
  expect(await running.passed(accountStream(1), revision, WAIT_MS)).toBe(true);
  expect(running.current(accountStream(1))?.state.webhooks).toHaveLength(1);
  expect(fixture.logger.errors).toHaveLength(1);
  await eventually(() => running.isLive);
});

it('is lost, and folds no further, where its states turn out to be damaged', async () => {
  const running = await fixture.started({
    states: failingOnce(fixture.states, new StatesDamaged('the file is damaged')),
  });
  await fixture.append(1, [registered(1)]);
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
    return fixture.store.subscribe({ ...options, signal: AbortSignal.any([options.signal, connection.signal]) });
  };
  const running = await fixture.started({ store: { ...bound(fixture.store), subscribe } });
  await fixture.append(1, [registered(1)]);
  await running.passed(accountStream(1), 0, WAIT_MS);
  connection.abort();
  await expect(running.lost).rejects.toThrow(UnknownPosition);
  expect(fixture.stored).toBe('[]');
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
