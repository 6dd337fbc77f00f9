import { parsePaymentEvent } from '../../src/payments/payment-event.js';
import { paymentFields } from '../../src/payments/payment-fields.js';
import { binary, structured } from '../support/generators/cloud-events.js';
import { header } from '../support/generators/delivery-samples.js';

const PATHS = { amount: ['data', 'sum', 'total'], reference: ['data', 'txid'] };
const of = (data: unknown) => paymentFields({ data });

it.each([
  ['a text', '"10.50"', '10.50'],
  ['a text with NUL and half of a surrogate pair', '"\\u0000\\ud800"', '\0\ud800'],
  ['a text of 64 characters', JSON.stringify('x'.repeat(64)), 'x'.repeat(64)],
  ['a longer text', JSON.stringify('x'.repeat(65)), undefined],
  ['an empty text', '""', undefined],
  ['a number', '10.5', '10.5'],
  ['a negative number', '-7', '-7'],
  ['a number of 15 digits', '1234567890123.45', '1234567890123.45'],
  ['a number with more digits than are kept', '12345678901234.567', undefined],
  ['a number that would be rounded', '9007199254740993', undefined],
  ['a number without bounds', '1e400', undefined],
  ['a boolean', 'true', undefined],
  ['an object', '{"value":"10.50"}', undefined],
  ['a list', '["10.50"]', undefined],
  ['null', 'null', undefined],
])('%s is an amount: %s gives %j', (_, json, amount) => {
  expect(of({ amount: JSON.parse(json) })).toEqual({ amount, reference: undefined });
});

it.each([undefined, null, 7, '10.50', ['10.50']])('data of %j has no fields', (data) => {
  expect(of(data)).toEqual({ amount: undefined, reference: undefined });
});

it('follows the paths of the type, through own fields of objects alone', () => {
  expect(paymentFields({ data: { sum: { total: '1.00' }, txid: 'a-1' } }, PATHS)).toEqual({
    amount: '1.00',
    reference: 'a-1',
  });
  const inherited = { amount: ['data', 'constructor', 'name'], reference: ['data', '__proto__', 'txid'] };
  expect(paymentFields({ data: {} }, inherited)).toEqual({ amount: undefined, reference: undefined });
});

it('finds items of lists by their index', () => {
  const paths = { ...PATHS, reference: ['data', 'pix', '1', 'endToEndId'] };
  const data = { pix: [{ endToEndId: 'E1' }, { endToEndId: 'E2' }] };
  expect(paymentFields({ data }, paths).reference).toBe('E2');
  expect(paymentFields({ data: { pix: [] } }, paths).reference).toBeUndefined();
  expect(paymentFields({ data }, { ...paths, reference: ['data', 'pix', 'length'] }).reference).toBeUndefined();
});

const DATA = { accountId: 42, amount: '10.50', endToEndId: 'E1' };
const EXTENSION = { ce_accountid: '42' };
it.each([
  ['a plain event', { value: JSON.stringify({ id: 'p', type: 'cash_in', accountId: 42, data: DATA }), headers: [] }],
  ['structured mode', structured({ data: DATA })],
  ['binary mode', binary({ ce_accountid: undefined }, JSON.stringify(DATA))],
  ['binary mode with the account beside the data', binary(EXTENSION, JSON.stringify(DATA))],
])('are found in %s', (_, { value, headers }) => {
  const parsed = parsePaymentEvent({ value: Buffer.from(value ?? ''), headers });
  expect(parsed.ok && paymentFields(parsed.json)).toEqual({ amount: '10.50', reference: 'E1' });
});

it('are absent where the data is no JSON', () => {
  const parsed = parsePaymentEvent(binary(EXTENSION, '<pix/>', [header('content-type', 'application/xml')]));
  expect(parsed.ok && paymentFields(parsed.json)).toEqual({ amount: undefined, reference: undefined });
});
