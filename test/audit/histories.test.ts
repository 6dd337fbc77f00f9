import { activeAt, Histories } from '../../src/audit/active-webhooks.js';
import { type EventStore, type RecordedEvent, StreamHidden } from '../../src/ports/event-store.js';
import type { AccountEvent } from '../../src/webhooks/events.js';
import { added, registered } from '../support/webhook-samples.js';

const happened: AccountEvent[] = [registered(), added(1)];
let reads = 0;
const store: Pick<EventStore, 'read'> = {
  async *read(stream): AsyncIterable<RecordedEvent> {
    if (stream !== 'account-42') return;
    reads += 1;
    for (const [revision, { type, data }] of happened.entries()) {
      yield { id: '', stream, position: '', metadata: {}, revision, type, data: { ...data } };
    }
  },
};

test('an account is read again where an entry names a revision that came since, and once for all that never come', async () => {
  const histories = await Histories.of(store);
  const active = async (revision: number) => {
    const spans = await histories.upTo(42, revision);
    return spans && activeAt(spans, 'cash_in', revision);
  };
  expect([histories.identity, await active(0), await active(1), reads]).toEqual([null, [], [1], 1]);
  happened.push(added(2));
  expect([await active(2), await active(1), reads]).toEqual([[1, 2], [1], 2]);
  expect([await active(9), await active(8), await active(2), reads]).toEqual([null, null, [1, 2], 3]);
});

test('an account whose stream is hidden can not be judged, others can, and it is read once', async () => {
  let asked = 0;
  const histories = await Histories.of({
    async *read(stream): AsyncIterable<RecordedEvent> {
      if (stream === 'account-43') {
        asked += 1;
        throw new StreamHidden(stream, 'it was deleted');
      }
      yield* store.read(stream);
    },
  });
  expect([await histories.upTo(43, 1), await histories.upTo(43, 2), histories.known(43), asked]).toEqual([
    ...[null, null, null],
    1,
  ]);
  expect([...histories.hidden]).toEqual([[43, 'it was deleted']]);
  expect(await histories.upTo(42, 1)).not.toBeNull();
});

test('an account that is set aside is known up to the event that can’t be read', async () => {
  const bad = { type: 'WebhookAdded', data: {} } as unknown as AccountEvent;
  const events = [registered(), added(1), bad, added(2)];
  const histories = await Histories.of({
    async *read(stream): AsyncIterable<RecordedEvent> {
      if (stream !== 'account-42') return;
      for (const [revision, { type, data }] of events.entries()) {
        yield { id: '', stream, position: '', metadata: {}, revision, type, data: { ...data } };
      }
    },
  });
  const spans = await histories.upTo(42, 1);
  expect(spans && activeAt(spans, 'cash_in', 1)).toEqual([1]);
  expect(await histories.upTo(42, 3)).toBeNull();
});
