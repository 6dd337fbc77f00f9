import { startDispatcher, unconfirmedText } from '../../src/delivery/dispatcher.js';
import type { ConsumeOptions, Consumer } from '../../src/ports/broker.js';
import { DeliverFixture } from '../support/scenes/deliver-fixture.js';
import { RecordingBroker } from '../support/servers/recording-broker.js';

class ConsumedBroker extends RecordingBroker {
  readonly options: ConsumeOptions[] = [];

  override async consume(options?: ConsumeOptions): Promise<Consumer> {
    if (options) this.options.push(options);
    const state = () => ({ connected: true, inHand: 0, inHandBytes: 0, partitions: [] });
    return {
      stop: () => undefined,
      close: async () => undefined,
      isOwner: () => true,
      state,
      closed: Promise.resolve(),
    };
  }
}

test('every consumer holds a bounded number of records, and of bytes', async () => {
  const broker = new ConsumedBroker();
  const { parts } = new DeliverFixture({ broker });
  const dispatcher = await startDispatcher({
    ...parts,
    ...{ group: 'g', store: 'store-1', passHead: async () => undefined, backpressure: { mayConsume: () => true } },
    monotonicNow: () => performance.now(),
  });
  const limits = broker.options.map(({ group, inFlight, inFlightBytes }) => ({ group, inFlight, inFlightBytes }));
  const bounded = { inFlight: 16_384, inFlightBytes: 64 * 1024 * 1024 };
  expect(limits).toEqual([
    { group: 'g', ...bounded },
    { group: 'g.retry', ...bounded },
    { group: 'g.notices', inFlight: 1_000 },
  ]);
  await dispatcher.close();
});

test('payments that are not confirmed for 30 s are a reason not to be ready, with how many are in hand', () => {
  const now = Date.parse('2026-11-25T10:00:30.000Z');
  expect(unconfirmedText({ inHand: 20, unconfirmedMs: 29_999 }, now)).toBeNull();
  expect(unconfirmedText({ inHand: 20, unconfirmedMs: 30_000 }, now)).toBe(
    "payments are delivered but not confirmed: the read model is behind the event store's head since " +
      '2026-11-25T10:00:00.000Z; 20 in hand of 16,384',
  );
});
