/** CloudEvents from the record to the request, over tiers and dead letters. */
import { type Delivery, fromRetryRecord } from '../../src/delivery/delivery.js';
import { attributeHeaders, contentOf } from '../../src/payments/cloud-event-attributes.js';
import { parsePaymentEvent } from '../../src/payments/payment-event.js';
import type { NewRecord } from '../../src/ports/broker.js';
import { binary, SOURCE, structured } from '../support/generators/cloud-events.js';
import { DELIVERED, failedWith, header, paymentRecord, received } from '../support/generators/delivery-samples.js';
import { DeliverFixture, SCHEDULE } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
});

const STRUCTURED_TYPE = 'application/cloudevents+json; charset=utf-8';
const AVRO = header('content-type', 'application/avro');
const ATTRIBUTES = {
  'ce-specversion': '1.0',
  'ce-id': 'pay-1',
  'ce-source': SOURCE,
  'ce-type': 'com.example.payments.cash_in',
  'ce-accountid': '42',
};

const contentSent = () =>
  fixture.requests.map(({ content, body }) => ({
    type: content?.type ?? 'application/json',
    attributes: Object.fromEntries(content?.attributes.map(({ key, value }) => [key, value]) ?? []),
    body,
  }));

const kinds: readonly (readonly [what: string, record: NewRecord, type: string, attributes: object])[] = [
  ['plain', paymentRecord({ headers: [AVRO] }), 'application/json', {}],
  ['structured', structured({}, [header('ce_id', 'pay-1')]), STRUCTURED_TYPE, {}],
  ['binary', binary(), 'application/json', ATTRIBUTES],
  ['binary, with a content type', binary({}, Buffer.from([0xff]), [AVRO]), 'application/avro', ATTRIBUTES],
  ['binary, without a value', binary({}, null), 'application/json', ATTRIBUTES],
];

describe.each(kinds)('%s', (_, record, type, attributes) => {
  const sent = { type, attributes, body: record.value ?? Buffer.alloc(0) };

  test('goes out as it came, with what it is in the headers', async () => {
    await fixture.fanOut(received(record));
    expect(contentSent()).toEqual([sent]);
  });

  test('goes out so from every tier, and after a replay', async () => {
    fixture.answer = () => failedWith(500);
    await fixture.fanOut(received(record));
    for (const { text } of SCHEDULE) await fixture.deliver(waitingIn(text));
    const [letter] = fixture.deadLetters;
    const dead = letter && fromRetryRecord(letter);
    if (!dead) throw new Error('the dead letter can not be replayed');
    fixture.answer = () => DELIVERED;
    await fixture.deliver(dead);
    expect(contentSent()).toEqual(Array.from({ length: 5 }, () => sent));
    expect(new Set(fixture.requests.map(({ id }) => id)).size).toBe(1);
    expect(fixture.log.at(-1)).toMatchObject({ outcome: 'delivered', eventId: 'pay-1' });
  });
});

function waitingIn(text: string): Delivery {
  const delivery = fixture.waiting.find(({ tier }) => tier === text)?.delivery;
  if (!delivery) throw new Error('nothing waits');
  return delivery;
}

describe('attributes as headers of a request', () => {
  const sentFor = (record: NewRecord, own: readonly string[] = []) => {
    const parsed = parsePaymentEvent(record);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { cloudEvent } = parsed.event;
    if (!cloudEvent) throw new Error('it is a plain payment event');
    const names = new Set(own.map((key) => key.toLowerCase()));
    const flat = attributeHeaders(contentOf(cloudEvent, record), names);
    return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : [])));
  };

  test.each([
    ['Euro € 😀', 'Euro%20%E2%82%AC%20%F0%9F%98%80'],
    ['100%', '100%25'],
    ['a"b', 'a%22b'],
    ['a\r\nb\0\u007f\t', 'a%0D%0Ab%00%7F%09'],
    ["!#$&'()*+,-./:;<=>?@[\\]^_`{|}~", "!#$&'()*+,-./:;<=>?@[\\]^_`{|}~"],
  ])('%j is %j', (text, encoded) => {
    expect(sentFor(binary({ ce_note: text }))).toMatchObject({ 'ce-note': encoded });
  });

  test('leave out an attribute whose header has no value', () => {
    expect(sentFor(binary({ ce_note: '' }))).toEqual(ATTRIBUTES);
  });

  test('stand once each, with the last value of those that stood twice, and no other header of the record', () => {
    const more = [header('ce_note', 'a'), header('ce_note', 'b'), header('x-own', 'c'), header('traceparent', 'd')];
    expect(sentFor(binary({}, {}, more))).toEqual({ ...ATTRIBUTES, 'ce-note': 'b' });
  });

  test('are those that are attributes by their names; data and its type are body and content-type', () => {
    const names = ['ce_Note', 'ce_no-te', 'ce_', 'CE_NOTE', 'ce_é', 'ce_data', 'ce_datacontenttype', 'ce_n\r\nx'];
    expect(
      sentFor(
        binary(
          {},
          {},
          names.map((name) => header(name, 'x')),
        ),
      ),
    ).toEqual(ATTRIBUTES);
  });

  test("give way to the webhook's own, whatever their case", () => {
    const { 'ce-id': _, 'ce-type': __, ...left } = ATTRIBUTES;
    expect(sentFor(binary(), ['CE-Id', 'ce-type', 'X-Key'])).toEqual(left);
  });
});
