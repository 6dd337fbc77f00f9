/** /asyncapi.json has the schemas that records are validated with; AsyncAPI's own parser reads in it what was meant. */
import type { AsyncAPIDocumentInterface, Parser } from '@asyncapi/parser';
import { areCloudEventHeaders, isPaymentEvent, isStructuredCloudEvent } from '../../src/payments/payment-check.js';
import { parsePaymentEvent } from '../../src/payments/payment-event.js';
import { header } from '../support/generators/delivery-samples.js';
import { fileOf } from '../support/oracles/operations-chapter.js';
import { startApi } from '../support/scenes/api-fixture.js';
import { inFull, testInFull } from '../support/thorough.js';

const ERROR = 0;
const WARNING = 1;

const MODES = { paymentEvent: undefined, structuredCloudEvent: 'structured', binaryCloudEvent: 'binary' } as const;

const document = JSON.parse(fileOf('docs/asyncapi.json'));
let loaded: Parser | undefined;
let read: AsyncAPIDocumentInterface | undefined;

/** Loaded where it is asked: that takes seconds of the processor. */
async function parser(): Promise<Parser> {
  loaded ??= new (await import('@asyncapi/parser')).default.Parser();
  return loaded;
}

async function problemsOf(changed: object): Promise<string[]> {
  const { diagnostics } = await (await parser()).parse(JSON.stringify(changed));
  return diagnostics.filter(({ severity }) => severity <= WARNING).map(({ path }) => path.join('.'));
}

async function parsed(): Promise<AsyncAPIDocumentInterface> {
  if (read) return read;
  const { document: whole, diagnostics } = await (await parser()).parse(JSON.stringify(document));
  expect(diagnostics.filter(({ severity }) => severity === ERROR)).toEqual([]);
  if (!whole) throw new Error('it is no AsyncAPI document');
  read = whole;
  return whole;
}

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
    expect((await parsed()).version()).toBe('3.0.0');
    expect(await problemsOf(document)).toEqual([]);
  });

  inFull(test, test.skip).each([
    ['without its title', { ...document, info: { version: '1.0.0' } }, 'info'],
    ['of an operation without a channel', withOperation({ action: 'receive' }), 'operations.deliverPaymentEvents'],
    ['of an action that is none', withOperation({ action: 'take' }), 'operations.deliverPaymentEvents.action'],
  ])('%s would not be', async (_, broken, place) => {
    expect((await problemsOf(broken)).join()).toContain(place);
  });

  testInFull('has the payment topic and the call, with the same three kinds of record', async () => {
    const whole = await parsed();
    const channels = whole.allChannels().all();
    expect(channels.map((channel) => channel.address())).toEqual(['payment-events', '/api/payment-events']);
    for (const channel of channels) {
      const messages = channel.messages().all();
      expect(messages.map((message) => message.id())).toEqual(Object.keys(MODES));
    }
    const operations = whole.allOperations().all();
    expect(operations.map((operation) => operation.action())).toEqual(['receive', 'receive']);
  });
});

function withOperation(operation: object): object {
  return { ...document, operations: { deliverPaymentEvents: operation } };
}
