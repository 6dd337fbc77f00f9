/** /asyncapi.json has the schemas that records are validated with; AsyncAPI's own parser reads in it what was meant. */
import { areCloudEventHeaders, isPaymentEvent, isStructuredCloudEvent } from '../../src/payments/payment-check.js';
import { parsePaymentEvent } from '../../src/payments/payment-event.js';
import { testInFull } from '../runner/thorough.js';
import { header } from '../support/generators/delivery-samples.js';
import { fileOf } from '../support/oracles/file-of.js';
import { startApi } from '../support/scenes/api-fixture.js';

const WARNING = 1;

const MODES = { paymentEvent: undefined, structuredCloudEvent: 'structured', binaryCloudEvent: 'binary' } as const;

const document = JSON.parse(fileOf('docs/asyncapi.json'));

describe('the document', () => {
  test('has the very schemas that records are validated with, and needs no token', async () => {
    const checks = [isPaymentEvent, isStructuredCloudEvent, areCloudEventHeaders];
    const { schemas: shown } = document.components;
    const schemas = [shown.paymentEvent, shown.structuredCloudEvent, shown.binaryCloudEventHeaders];
    expect(schemas).toEqual(checks.map(({ schema }) => schema));
    const api = await startApi();
    try {
      const response = await fetch(`${api.url}/asyncapi.json`);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await response.json()).toEqual(document);
    } finally {
      await api.close();
    }
  });

  test.each(Object.entries(MODES))('shows an example of %s that the dispatcher takes as one', (name, mode) => {
    const [example] = document.components.messages[name].examples;
    const headers = Object.entries((example.headers ?? {}) as Record<string, string>);
    const value = Buffer.from(JSON.stringify(example.payload));
    const event = parsePaymentEvent({ value, headers: headers.map(([key, text]) => header(key, text)) });
    expect(event).toMatchObject({ ok: true, event: { id: 'pay-1', type: 'cash_in', accountId: 42 } });
    expect(event.ok && event.event.cloudEvent?.mode).toBe(mode);
  });

  testInFull('is valid AsyncAPI 3 without a warning', async () => {
    // Loaded here: that takes seconds of the processor.
    const { Parser } = (await import('@asyncapi/parser')).default;
    const { document: read, diagnostics } = await new Parser().parse(JSON.stringify(document));
    expect(diagnostics.filter(({ severity }) => severity <= WARNING)).toEqual([]);
    expect(read?.version()).toBe('3.0.0');
  });
});
