import { areCloudEventHeaders, isPaymentEvent, isStructuredCloudEvent } from '../../src/payments/payment-check.js';
import { parsePaymentEvent } from '../../src/payments/payment-event.js';
import { header } from '../support/generators/delivery-samples.js';
import { fileOf } from '../support/oracles/operations-chapter.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

const MODES = { paymentEvent: undefined, structuredCloudEvent: 'structured', binaryCloudEvent: 'binary' } as const;

const document = JSON.parse(fileOf('docs/asyncapi.json'));

describe('the document', () => {
  test('has the very schemas that records are validated with', () => {
    const checks = [isPaymentEvent, isStructuredCloudEvent, areCloudEventHeaders];
    const { schemas: shown } = document.components;
    expect([shown.paymentEvent, shown.structuredCloudEvent, shown.binaryCloudEventHeaders]).toEqual(
      checks.map(({ schema }) => schema),
    );
  });

  test.each(Object.entries(MODES))('shows an example of %s that the dispatcher takes as one', (name, mode) => {
    const [example] = document.components.messages[name].examples;
    const headers = Object.entries((example.headers ?? {}) as Record<string, string>);
    const value = Buffer.from(JSON.stringify(example.payload));
    const event = parsePaymentEvent({ value, headers: headers.map(([key, text]) => header(key, text)) });
    expect(event).toMatchObject({ ok: true, event: { id: 'pay-1', type: 'cash_in', accountId: 42 } });
    expect(event.ok && event.event.cloudEvent?.mode).toBe(mode);
  });
});

describe('GET /asyncapi.json', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  test('needs no token, and is the document', async () => {
    const response = await fetch(`${api.url}/asyncapi.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual(document);
  });
});
