import asyncApiParser, { type AsyncAPIDocumentInterface } from '@asyncapi/parser';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  areCloudEventHeaders,
  isPaymentEvent,
  isStructuredCloudEvent,
} from '../../src/delivery/payment/payment-check.js';
import { parsePaymentEvent } from '../../src/delivery/payment/payment-event.js';
import { asyncApiDocument } from '../../src/http/asyncapi-document.js';
import { type RunningApi, startApi } from '../support/api-fixture.js';
import { header } from '../support/delivery-samples.js';
import { fileOf } from '../support/operations-chapter.js';

const ERROR = 0;
const WARNING = 1;
const MODES = { paymentEvent: undefined, structuredCloudEvent: 'structured', binaryCloudEvent: 'binary' } as const;

/** Plain data, as who reads the file has it. */
const document = JSON.parse(JSON.stringify(asyncApiDocument()));
const parser = new asyncApiParser.Parser();
let parsed: AsyncAPIDocumentInterface;

async function problemsOf(changed: object): Promise<string[]> {
  const { diagnostics } = await parser.parse(JSON.stringify(changed));
  return diagnostics.filter(({ severity }) => severity <= WARNING).map(({ path }) => path.join('.'));
}

beforeAll(async () => {
  const { document: whole, diagnostics } = await parser.parse(JSON.stringify(document));
  expect(diagnostics.filter(({ severity }) => severity === ERROR)).toEqual([]);
  if (!whole) throw new Error('it is no AsyncAPI document');
  parsed = whole;
});

describe('the document', () => {
  test('is valid AsyncAPI 3 without a warning', async () => {
    expect(parsed.version()).toBe('3.0.0');
    expect(await problemsOf(document)).toEqual([]);
  });

  test.each([
    ['without its title', { ...document, info: { version: '1.0.0' } }, 'info'],
    ['of an operation without a channel', withOperation({ action: 'receive' }), 'operations.deliverPaymentEvents'],
    ['of an action that is none', withOperation({ action: 'take' }), 'operations.deliverPaymentEvents.action'],
  ])('%s would not be', async (_, broken, place) => {
    expect((await problemsOf(broken)).join()).toContain(place);
  });

  test('has the payment topic and its three kinds of record', () => {
    const [channel, ...others] = parsed.allChannels().all();
    expect(others).toEqual([]);
    expect(channel?.address()).toBe('payment-events');
    expect(
      channel
        ?.messages()
        .all()
        .map((message) => message.id()),
    ).toEqual(Object.keys(MODES));
    expect(
      parsed
        .allOperations()
        .all()
        .map((operation) => operation.action()),
    ).toEqual(['receive']);
  });

  test('has the very schemas that records are validated with', () => {
    const checks = [isPaymentEvent, isStructuredCloudEvent, areCloudEventHeaders];
    const { schemas: shown } = asyncApiDocument().components as { schemas: Record<string, unknown> };
    expect([shown.paymentEvent, shown.structuredCloudEvent, shown.binaryCloudEventHeaders]).toEqual(
      checks.map(({ schema }) => schema),
    );
  });

  test.each(Object.entries(MODES))('shows an example of %s that the dispatcher takes as one', (name, mode) => {
    const [example] = parsed.components().messages().get(name)?.examples().all() ?? [];
    const headers = Object.entries((example?.headers() ?? {}) as Record<string, string>);
    const value = Buffer.from(JSON.stringify(example?.payload()));
    const event = parsePaymentEvent({ value, headers: headers.map(([key, text]) => header(key, text)) });
    expect(event).toMatchObject({ ok: true, event: { id: 'pay-1', type: 'cash_in', accountId: 42 } });
    expect(event.ok && event.event.cloudEvent?.mode).toBe(mode);
  });

  test('is docs/asyncapi.json, which make asyncapi-document writes', () => {
    expect(JSON.parse(fileOf('docs/asyncapi.json'))).toEqual(document);
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

function withOperation(operation: object): object {
  return { ...document, operations: { deliverPaymentEvents: operation } };
}
