import { StoreUnavailable, type SubscribeOptions } from '../../src/ports/event-store.js';
import { bound } from '../support/bound-store.js';
import { eventually } from '../support/eventually.js';
import { HISTORY, ProjectionHostFixture, waitUntilProjected } from '../support/projection-host-fixture.js';
import { registered } from '../support/webhook-samples.js';

let fixture: ProjectionHostFixture;
let now: number;
beforeEach(() => {
  fixture = new ProjectionHostFixture();
  now = 1_000;
});
afterEach(() => fixture.close());

it('is behind from its start on, until it has folded what there is', async () => {
  const host = fixture.host({ now: () => now });
  host.start(HISTORY);
  now += 250;
  expect(host.progress).toMatchObject({ kind: 'starting', events: 0, behindMs: 250 });
  await host.caughtUp;
  expect(host.progress).toEqual({ kind: 'live', why: null, events: 0, behindMs: 0 });
  await fixture.append(1, [registered(1)]);
  await waitUntilProjected(host, 1, 0);
  expect(host.progress).toEqual({ kind: 'live', why: null, events: 1, behindMs: 0 });
});

it('is behind while its subscription is mended, and says why, until the mark comes again', async () => {
  let dropped: SubscribeOptions['onDropped'];
  let markAgain: () => void = () => undefined;
  async function* subscribe(options: SubscribeOptions) {
    dropped = options.onDropped;
    yield { events: [], position: await fixture.store.head(), caughtUp: true };
    await new Promise<void>((resolve) => {
      markAgain = resolve;
    });
    yield { events: [], position: await fixture.store.head(), caughtUp: true };
    yield* fixture.store.subscribe(options);
  }
  const host = await fixture.started({ store: { ...bound(fixture.store), subscribe }, now: () => now });
  await eventually(() => dropped !== undefined);
  dropped?.(new StoreUnavailable('nobody answers'));
  now += 4_000;
  dropped?.(new StoreUnavailable('still nobody answers'));
  expect(host.progress).toEqual({ kind: 'out-of-reach', why: 'still nobody answers', events: 0, behindMs: 4_000 });
  markAgain();
  await eventually(() => host.progress.kind === 'live');
  expect(host.progress.behindMs).toBe(0);
});

it('is behind where its subscription ends of itself', async () => {
  const connection = new AbortController();
  const subscribe = (options: SubscribeOptions) =>
    fixture.store.subscribe({ ...options, signal: AbortSignal.any([options.signal, connection.signal]) });
  const host = await fixture.started({ store: { ...bound(fixture.store), subscribe } });
  connection.abort();
  await eventually(() => host.progress.kind === 'out-of-reach');
});
