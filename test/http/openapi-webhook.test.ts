/** A receiver gets what the `webhooks` of /openapi.json say. */
import { Webhook } from 'standardwebhooks';
import { PAYMENT_EVENT_WEBHOOK } from '../../src/http/documents/payment-event-webhook.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import {
  compiler,
  type DocumentedOperation,
  fetchDocument,
  type OpenApiDocument,
} from '../support/clients/documented.js';
import { sendTest, type TestedWebhooks, withTestedWebhooks } from '../support/scenes/tested-webhooks.js';
import type { ReceivedRequest } from '../support/servers/receiver.js';

const ONLY_WITH_A_TRACE = ['traceparent', 'tracestate'];
const { post: described } = PAYMENT_EVENT_WEBHOOK as { post: { parameters: { name: string; example?: unknown }[] } };

let tested: TestedWebhooks;
let document: OpenApiDocument;
let operation: DocumentedOperation;
let received: ReceivedRequest;

withTestedWebhooks((given) => {
  tested = given;
});
beforeAll(async () => {
  document = await fetchDocument(tested.api.url);
  operation = document.webhooks.paymentEvent?.post as DocumentedOperation;
  await sendTest(tested.client, await tested.register(tested.client, '/described', 'med_rejected'));
  [received] = tested.requestsAt('/described') as [ReceivedRequest];
});

describe('the payment event', () => {
  it('has the headers that are described, and those of HTTP and of the webhook', () => {
    const names = (operation.parameters ?? []).map(({ name }) => name);
    const sent = Object.keys(received.headers).filter((name) => name !== 'x-api-key');
    const always = names.filter((name) => !ONLY_WITH_A_TRACE.includes(name));
    expect(sent.sort()).toEqual([...always, 'connection', 'content-length', 'content-type', 'host'].sort());
    const compile = compiler(document);
    for (const { name, schema } of operation.parameters ?? []) {
      const text = received.headers[name];
      const value = schema.type === 'integer' ? Number(text) : text;
      if (text !== undefined) expect({ name, value, isValid: compile(schema)(value) }).toMatchObject({ isValid: true });
    }
  });

  it('has a body of the media type and the schema that are described', () => {
    const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(operation.requestBody?.content ?? {});
    expect(received.headers['content-type']).toBe(type);
    const validate = compiler(document)(schema);
    expect({ isValid: validate(JSON.parse(String(received.body))), errors: validate.errors }).toMatchObject({
      isValid: true,
    });
    expect(document.components.schemas.EventType?.enum).toEqual(EVENT_TYPES);
  });

  it('is described with an example whose signature is right, for the secret and the body of docs/receivers.md', () => {
    const body =
      '{"id":"pay-1","type":"cash_in","accountId":42,"timestamp":"2026-11-21T09:00:00Z","data":{"amount":"10.00"}}';
    const example = (name: string) => String(described.parameters.find((one) => one.name === name)?.example);
    const at = new Date(Number(example('webhook-timestamp')) * 1000);
    const signature = new Webhook('whsec_AAcOFRwjKjE4P0ZNVFtiaXB3foWMk5qhqK+2vcTL0tk=').sign(
      example('webhook-id'),
      at,
      body,
    );
    expect(example('webhook-signature')).toBe(signature);
  });
});
