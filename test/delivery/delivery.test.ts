import fc from 'fast-check';
import { type Delivery, foreignHeaders, fromRetryRecord, newDelivery, toMember } from '../../src/delivery/delivery.js';
import { progressIn, type StoredProgress } from '../../src/delivery/delivery-progress.js';
import type { CloudEvent } from '../../src/payments/parsed-payment.js';
import type { NewRecord } from '../../src/ports/broker.js';
import { TRIGGERS, WAITING_FOR } from '../../src/ports/delivery-order.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { binary, SOURCE, structured } from '../support/generators/cloud-events.js';
import { deliveryTo, EVENT, header, named, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { anyCharacters } from '../support/generators/odd-json.js';

const anyBytes = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes));
/** Halves of surrogate pairs too. */
const anyText = fc.oneof(
  anyCharacters(),
  fc.array(fc.constantFrom('\ud800', '\udc00', 'a', '\ufffd'), { maxLength: 4 }).map((units) => units.join('')),
);
const anySource = fc.record({
  source: anyText,
  mode: fc.constantFrom<CloudEvent['mode']>('structured', 'binary'),
});
const foreignName = anyCharacters().filter((name) => !name.startsWith('aw-'));
const foreign = fc.array(fc.tuple(foreignName, anyBytes), { maxLength: 5 });
const anyDelivery: fc.Arbitrary<Delivery> = fc
  .record({
    event: fc.record(
      { id: anyText, type: fc.constantFrom(...EVENT_TYPES), accountId: fc.maxSafeInteger(), cloudEvent: anySource },
      { requiredKeys: ['id', 'type', 'accountId'] },
    ),
    webhook: fc.record({ id: fc.maxSafeNat(), addedBy: fc.uuid() }),
    progress: fc.record({
      chain: fc.maxSafeNat(),
      attempts: fc.nat(),
      step: fc.nat(),
      deferrals: fc.nat(),
      deferredFrom: fc.option(fc.nat()),
      refused: fc.nat(),
      waitingFor: fc.constantFrom(null, ...WAITING_FOR),
      publishedAt: fc.option(fc.maxSafeNat()),
      trigger: fc.constantFrom(...TRIGGERS),
      actor: fc.option(anyText),
    }),
    record: fc.record({ key: fc.option(anyBytes), value: anyBytes, headers: foreign }),
  })
  .map(({ event, webhook, progress, record }) => ({ ...newDelivery(event, webhook, record), ...progress }));

describe('a delivery between two attempts is a member of a bundle', () => {
  test('comes back from it as it was, whatever the payment was', () => {
    fc.assert(
      fc.property(anyDelivery, (delivery) => {
        const member = toMember(delivery);
        const { headers } = member;
        expect(fromRetryRecord(member)).toEqual({ ...delivery, record: { ...delivery.record, headers } });
      }),
    );
  });

  test("keeps the payment's key and bytes, and its headers with their order and repetitions, over any number of rounds", () => {
    fc.assert(
      fc.property(anyDelivery, fc.integer({ min: 1, max: 5 }), (delivery, rounds) => {
        let record = toMember(delivery);
        const { length } = record.headers;
        for (let round = 1; round < rounds; round += 1) record = toMember(again(record));
        expect(again(record).record).toMatchObject({ key: delivery.record.key, value: delivery.record.value });
        expect(foreignHeaders(record)).toEqual(delivery.record.headers);
        expect(record.headers).toHaveLength(length);
      }),
    );
  });

  test.each([
    { eventId: 'x'.repeat(1_025) },
    { cloudEvent: { source: 'x'.repeat(1_025), mode: 'structured' } as const },
  ])('with an identity that no payment has is forged: its entry could be of any size', (changes) => {
    expect(fromRetryRecord(toMember({ ...deliveryTo(1), ...changes }))).toBeNull();
  });

  test.each([-1, Number(1_763_900_000_123_456_789n)])(
    'of a record stamped %d has no latency, and names its place',
    (timestamp) => {
      const record = { ...received(paymentRecord()), timestamp };
      const delivery = newDelivery(EVENT, named(1), record);
      expect(delivery).toMatchObject({ publishedAt: null, payment: expect.stringMatching(`@${timestamp}$`) });
      expect(again(toMember(delivery))).toMatchObject({ publishedAt: null, payment: delivery.payment });
    },
  );
});

describe('a member that is not ours', () => {
  const ours = toMember(deliveryTo(1));
  const progress = progressIn(ours) as StoredProgress;
  const needed = ['id', 'eventId', 'eventType', 'accountId', 'webhookId', 'webhookEvent', 'step'];
  const withProgress = (json: unknown) => ({ ...ours, headers: [header('aw-delivery', JSON.stringify(json))] });
  const rows: (readonly [what: string, record: NewRecord])[] = [
    ['a bare payment', paymentRecord()],
    ['what is no JSON', { ...ours, headers: [header('aw-delivery', '{')] }],
    ...[null, 'text', [progress]].map((json) => [JSON.stringify(json), withProgress(json)] as const),
    ...needed.map((name) => [`no ${name}`, withProgress({ ...progress, [name]: undefined })] as const),
    ...['1', 1.5, -1, 1e16, null].map(
      (attempts) => [`attempts of ${attempts}`, withProgress({ ...progress, attempts })] as const,
    ),
    ['a source without a mode', withProgress({ ...progress, cloudEvent: { source: SOURCE } })],
    ['an unknown mode', withProgress({ ...progress, cloudEvent: { source: SOURCE, mode: 'batched' } })],
    ['an unknown trigger', withProgress({ ...progress, trigger: 'whim' })],
  ];

  test.each(rows)('%s: is not a delivery', (_, record) => {
    expect(fromRetryRecord(record)).toBeNull();
  });

  test('is read without what ours never has, which may be nested too deeply to be written again', () => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const json = JSON.stringify({
      ...{ ...progress, cloudEvent: { source: SOURCE, mode: 'structured', more: 0 }, more: 0 },
      trace: { traceId: 'a', spanId: 'b', flags: 0, state: null, more: 0 },
    });
    const forged = { ...ours, headers: [header('aw-delivery', json.replaceAll('"more":0', `"more":${nested}`))] };
    const delivery = fromRetryRecord(forged) as Delivery;
    expect(progressIn(toMember(delivery))).toEqual({
      ...{ ...progress, cloudEvent: { source: SOURCE, mode: 'structured' } },
      trace: { traceId: 'a', spanId: 'b', flags: 0, state: null },
    });
  });

  test('differs from these in one field only', () => {
    expect(fromRetryRecord(withProgress(progress))).not.toBeNull();
  });
});

describe('the webhook-id', () => {
  const idOf = (event: Partial<typeof EVENT> | { id: string } | { accountId: number }, webhookId = 1) =>
    newDelivery({ ...EVENT, ...event }, named(webhookId), paymentRecord()).id;

  test('is derived: of the same event and webhook the same, today and in any later release', () => {
    expect(idOf({})).toBe('msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ');
    expect(idOf({})).toMatch(/^msg_[\w-]{27}$/);
  });

  test('is another for another event, also where an id holds half a surrogate pair', () => {
    const ids = ['pay-1', 'pay-2', '\ud800', '\ud801', '\ufffd'].map((id) => idOf({ id }));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a CloudEvent', () => {
  const cloudEvent = (mode: CloudEvent['mode'], source = SOURCE) => ({ ...EVENT, cloudEvent: { source, mode } });

  test('has a webhook-id of source and id, in either mode the same, today and in any later release', () => {
    const ids = (['structured', 'binary'] as const).map((mode) => newDelivery(cloudEvent(mode), named(1), binary()).id);
    expect(new Set(ids)).toEqual(new Set(['msg_Pdt4It-ukGZqQu0Iotp-9ePbNSX']));
  });

  test('never has that of another event, plain ones too', () => {
    const idOf = (id: string, source?: string) => {
      const event = source === undefined ? EVENT : cloudEvent('structured', source);
      return newDelivery({ ...event, id }, named(1), structured()).id;
    };
    const identity = fc.tuple(anyText, fc.option(anyText, { nil: undefined }));
    const alike = [['a","b'], ['b', 'a'], ['a', 'b'], ['["a","b"]'], ['ab'], ['b', ''], ['', 'b']] as const;
    const anyIdentity = fc.oneof(identity, fc.constantFrom(...alike));
    fc.assert(
      fc.property(anyIdentity, anyIdentity, ([id, source], [otherId, otherSource]) => {
        expect(idOf(id, source) === idOf(otherId, otherSource)).toBe(id === otherId && source === otherSource);
      }),
      { numRuns: 1_000 },
    );
  });

  test('in binary mode may have no value; another may not', () => {
    const record = binary({}, null);
    expect(again(toMember(newDelivery(cloudEvent('binary'), named(1), record))).record.value).toBeNull();
    expect(fromRetryRecord(toMember(newDelivery(cloudEvent('structured'), named(1), record)))).toBeNull();
  });
});

function again(record: NewRecord): Delivery {
  const delivery = fromRetryRecord(record);
  if (!delivery) throw new Error('not a retry record');
  return delivery;
}
