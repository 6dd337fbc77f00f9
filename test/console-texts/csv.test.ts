/** Payments as CSV: what spreadsheets read, and run. */
import { csvOf } from '../../src/console/payments/csv.js';
import { en } from '../../src/console/texts/en.js';
import { ptBr } from '../../src/console/texts/pt-br.js';

const PAYMENT = {
  cursor: 'c',
  eventId: 'pay-1',
  eventType: 'cash_in',
  publishedAt: '2026-11-20T12:00:00.000Z',
  payload: '{"amount":"10.00"}',
  amount: '10.00',
  reference: 'E1',
  arrived: 'part',
  notSent: null,
  sentTo: [
    { webhookId: 7, deliveryId: 'msg_1', outcome: 'delivered', held: false },
    { webhookId: 8, deliveryId: 'msg_2', outcome: 'exhausted', held: true },
  ],
} as const;
const ENGLISH = { texts: en, separator: ',', hasPayloads: true, urls: new Map([[7, 'https://a.example/x']]) } as const;
const rowsOf = (csv: string) => csv.split('\r\n');

it('has a byte order mark, times in UTC and here, destinations and the payload', () => {
  const [head, row] = rowsOf(csvOf([{ ...PAYMENT, sentTo: [...PAYMENT.sentTo] }], ENGLISH));
  expect(head).toBe('\ufeffTime (UTC),Local time,Event id,Type,Arrived?,Sent to,Amount,Reference,Payload');
  expect(row).toMatch(/^2026-11-20 12:00:00,2026-11-\d\d \d\d:\d\d:00,pay-1,Cash in,Arrived in part,/);
  expect(row).toContain('https://a.example/x: Delivered | 8: Held,10.00,E1,"{""amount"":""10.00""}"');
});

it('has semicolons, and amounts with a comma, in Portuguese', () => {
  const [head, row] = rowsOf(csvOf([{ ...PAYMENT, sentTo: [] }], { ...ENGLISH, texts: ptBr, separator: ';' }));
  expect(row).toContain(';"10,00";E1;');
  expect(head).toContain('Horário local;Id do evento;Tipo');
});

it('has no column of the payload without the right to see it', () => {
  const csv = csvOf([{ ...PAYMENT, sentTo: [] }], { ...ENGLISH, hasPayloads: false });
  expect(csv).not.toMatch(/Payload|Amount|Reference|10\.00/);
});

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])(
  'begins no field with %j, which a spreadsheet runs',
  (eventId) => {
    expect(csvOf([{ ...PAYMENT, sentTo: [], eventId }], ENGLISH)).toContain(`'${eventId}`);
  },
);
