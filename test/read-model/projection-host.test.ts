import { randomUUID } from 'node:crypto';
import { type EventStore, NO_STREAM, type SubscribeOptions } from '../../src/ports/event-store.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { eventually } from '../support/clocks/eventually.js';
import { added, CONTEXT, registered } from '../support/generators/webhook-samples.js';
import { ProjectionHostFixture, waitUntilProjected } from '../support/scenes/projection-host-fixture.js';
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
