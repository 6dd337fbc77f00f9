import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { EventStore } from '../../src/ports/event-store.js';
import { accountStream } from '../../src/webhooks/events.js';
import { bound, ProjectionHostFixture, WAIT_MS } from '../support/projection-host-fixture.js';
import { added, registered } from '../support/webhook-samples.js';

let fixture: ProjectionHostFixture;
beforeEach(() => {
  fixture = new ProjectionHostFixture();
});
afterEach(() => fixture.close());

it('shows an event once it has passed', async () => {
  const running = await fixture.started();
  const { revision } = await fixture.append(1, [registered(1), added(7)]);
  expect(await running.passed(accountStream(1), revision, WAIT_MS)).toBe(true);
  expect(running.current(accountStream(1))).toMatchObject({
    revision: 1,
    state: { accountId: 1, webhooks: [{ id: 7 }] },
  });
  expect(await running.passed(accountStream(1), revision, 0)).toBe(true);
});

it('says so where an event did not pass in time', async () => {
  const running = await fixture.started();
  expect(await running.passed(accountStream(1), 0, 1)).toBe(false);
});

it('what was handed out stays as it was', async () => {
  const running = await fixture.started();
  const first = await fixture.append(1, [registered(1)]);
  await running.passed(accountStream(1), first.revision, WAIT_MS);
  const before = running.current(accountStream(1));
  await fixture.append(1, [added(7)], 0);
  await running.passed(accountStream(1), 1, WAIT_MS);
  expect(before).toMatchObject({ revision: 0, state: { webhooks: [] } });
});

it('what is fresh is read from the store only as far as it is not folded here', async () => {
  const first = await fixture.append(1, [registered(1), added(7)]);
  const asked: unknown[] = [];
  const read: EventStore['read'] = (stream, from) => {
    asked.push(from);
    return fixture.store.read(stream, from);
  };
  const running = await fixture.started({ store: { ...bound(fixture.store), read } });
  expect(await running.fresh(accountStream(1))).toMatchObject({ revision: first.revision });
  expect(await running.fresh(accountStream(2))).toBeUndefined();
  expect(asked).toEqual([2, 0]);
});

it('looks a stream it does not know yet up in the store', async () => {
  const notStarted = fixture.host();
  await fixture.append(1, [registered(1), added(7)]);
  expect(notStarted.current(accountStream(1))).toBeUndefined();
  expect(await notStarted.find(accountStream(1))).toMatchObject({ revision: 1, state: { webhooks: [{ id: 7 }] } });
  expect(await notStarted.find(accountStream(2))).toBeUndefined();
});

it('ends what waits when it is closed, and can be closed twice', async () => {
  const running = await fixture.started();
  const waiting = running.passed(accountStream(1), 0, 60_000);
  await running.close();
  await running.close();
  expect(await waiting).toBe(false);
});
