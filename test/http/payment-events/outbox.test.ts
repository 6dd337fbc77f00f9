/** docs/payment-events.md, From a database: what Debezium sends with the settings shown there is published and valid. */
import { parsePaymentEvent } from '../../../src/payments/payment-event.js';
import { header } from '../../support/generators/delivery-samples.js';
import { fileOf } from '../../support/oracles/file-of.js';
import { type RunningApi, startApi } from '../../support/scenes/api-fixture.js';

const ROW_ID = 'pay-1';
const PAYLOAD = '{"id":"pay-1","type":"cash_in","accountId":42,"data":{"amount":"10.00"}}';
const PAGE = fileOf('docs/payment-events.md');

let api: RunningApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

it('a request of Debezium Server’s HTTP sink is accepted, with the headers that it adds', async () => {
  expect(PAGE).toContain('\ndebezium.format.value=json\n');
  const publisher = await api.publisher('debezium');
  // Names and values as the sink makes them of the record's headers: base64 by default.
  const base64 = Buffer.from(JSON.stringify(ROW_ID)).toString('base64');
  const headers = { 'X-DEBEZIUM-id': base64, 'X-DEBEZIUM-__debezium.context.task': 'MA==' };
  expect((await publisher.publish(PAYLOAD, 'application/json', { headers })).status).toBe(202);
  const [record] = await api.records();
  expect(record).toMatchObject({ key: Buffer.from('42'), value: Buffer.from(PAYLOAD), headers: [] });
});

it('the record of the event router on Kafka Connect is a CloudEvent in binary mode', () => {
  const placed =
    /additional\.placement=(\S+)/
      .exec(PAGE)?.[1]
      ?.split(',')
      .map((column) => column.split(':header:')) ?? [];
  const row: Record<string, string> = {
    id: ROW_ID,
    type: 'com.example.payments.cash_in',
    source: '/payments',
    specversion: '1.0',
    aggregateid: '42',
  };
  // The router adds the header id of its own accord; StringConverter writes each as its text.
  const headers = [header('id', ROW_ID), ...placed.map(([column = '', name = '']) => header(name, row[column] ?? ''))];
  expect(parsePaymentEvent({ value: Buffer.from('{"amount":"10.00"}'), headers })).toEqual({
    ok: true,
    json: { data: { amount: '10.00' } },
    event: { id: ROW_ID, type: 'cash_in', accountId: 42, cloudEvent: { source: '/payments', mode: 'binary' } },
  });
});
