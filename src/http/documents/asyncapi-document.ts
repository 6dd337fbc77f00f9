/**
 * AsyncAPI 3 of the payment topic, and of the call that publishes to it (https://www.asyncapi.com/docs/reference/specification/v3.0.0), built from the
 * schemas that validate records. docs/payment-events.md says the same for people.
 */

import type { CataloguedType, EventCatalogue } from '../../delivery/payment/event-catalogue.js';
import {
  binaryCloudEventHeadersSchema,
  paymentEventSchema,
  structuredCloudEventSchema,
} from '../../delivery/payment/payment-event-schema.js';
import { type Operation, type Route, route, type Schema } from '../operation.js';

/** The contract's version, not the service's: a later version accepts every record that an earlier one accepts. */
const VERSION = '1.0.0';
const BINDING = '0.5.0';
const HTTP_BINDING = '0.3.0';
const NAMES = ['paymentEvent', 'structuredCloudEvent', 'binaryCloudEvent'] as const;

type Name = (typeof NAMES)[number];

/** @param catalogue the operator's schemas of `data`; without it: any value */
export function asyncApiDocument(catalogue?: EventCatalogue): Schema {
  const typed = [...(catalogue?.values() ?? [])].filter(({ schema }) => schema !== null);
  return {
    asyncapi: '3.0.0',
    info: { title: 'account-webhooks: payment events', version: VERSION, description: DESCRIPTION },
    defaultContentType: 'application/json',
    channels: { paymentEvents: channel(), paymentEventsByHttp: httpChannel() },
    operations: { deliverPaymentEvents: operation(), publishPaymentEvents: httpOperation() },
    components: { messages: messages(typed), schemas: { ...SCHEMAS, ...dataSchemas(typed) } },
  };
}

const DESCRIPTION =
  'Payment events, published by payment systems to Kafka or over HTTP. The service sends each record, byte for byte, to every active webhook ' +
  'that its account registered for its type. A record that is not valid, whose value exceeds 256 KiB, or that has more ' +
  'than 1,000 headers or 64 KiB of them, becomes a dead letter with the reason. So does one whose key, headers and value ' +
  'exceed 512 KiB together; its letter has its size, digest and place instead of its bytes. The records behind it are not affected.';

const SCHEMAS = {
  paymentEvent: paymentEventSchema,
  structuredCloudEvent: structuredCloudEventSchema,
  binaryCloudEventHeaders: binaryCloudEventHeadersSchema,
  commonHeaders: {
    type: 'object',
    description: 'At most 1,000 headers, with at most 65,536 bytes of names and values.',
    properties: {
      traceparent: { type: 'string', description: 'W3C trace context. Every attempt continues the trace.' },
      tracestate: { type: 'string', description: 'Passed on unchanged, up to 512 characters.' },
      'x-correlation-id': {
        type: 'string',
        pattern: '^[A-Za-z0-9_.:-]{1,128}$',
        description: 'Appears in every log line about the event. A value of another form is ignored.',
      },
    },
  },
} as const;

const TOPIC_QUERY = {
  type: 'object',
  properties: { topic: { type: 'string', description: 'One of PAYMENT_TOPICS. Without it: the first of them.' } },
};

const KEY = { type: 'string', description: 'The accountId in decimal. It keeps the records of an account in order.' };

function channel(): Schema {
  return {
    address: 'payment-events',
    description: 'The default of PAYMENT_TOPICS. The operator may have configured other topics.',
    messages: all('#/components/messages'),
    bindings: { kafka: { bindingVersion: BINDING } },
  };
}

function httpChannel(): Schema {
  return {
    address: '/api/payment-events',
    description:
      'Publishes to the payment topic. A request has one message, or several: one a line as application/x-ndjson, or an ' +
      'array of CloudEvents as application/cloudevents-batch+json. Of a CloudEvent in binary mode the attributes are the ' +
      'headers ce-id, ce-source and so on.',
    messages: all('#/components/messages'),
  };
}

function all(where: string): Schema {
  return Object.fromEntries(NAMES.map((name) => [name, { $ref: `${where}/${name}` }]));
}

function httpOperation(): Schema {
  return {
    action: 'receive',
    channel: { $ref: '#/channels/paymentEventsByHttp' },
    summary: 'Publishes each message to the payment topic, byte for byte. 202 once all are durable.',
    messages: NAMES.map((name) => ({ $ref: `#/channels/paymentEventsByHttp/messages/${name}` })),
    bindings: { http: { method: 'POST', query: TOPIC_QUERY, bindingVersion: HTTP_BINDING } },
  };
}

function operation(): Schema {
  return {
    action: 'receive',
    channel: { $ref: '#/channels/paymentEvents' },
    summary: 'Delivers each record to the webhooks of its account.',
    messages: NAMES.map((name) => ({ $ref: `#/channels/paymentEvents/messages/${name}` })),
    bindings: {
      kafka: {
        groupId: {
          type: 'string',
          description: 'The consumer group of the service (KAFKA_GROUP).',
          default: 'account-webhooks',
        },
        bindingVersion: BINDING,
      },
    },
  };
}

function dataSchemas(typed: readonly CataloguedType[]): Schema {
  const placed = ({ type, description, schema }: CataloguedType) => {
    const name = `${type}_data`;
    // With an $id of its own, references are relative to that.
    const own = schema && '$id' in schema ? schema : rerooted(schema, `#/components/schemas/${name}`);
    return [name, { description, ...(own as Schema) }];
  };
  return Object.fromEntries(typed.map(placed));
}

/** A schema's references to itself, as they are where it stands in the document. */
function rerooted(schema: unknown, root: string): unknown {
  if (Array.isArray(schema)) return schema.map((one) => rerooted(one, root));
  if (typeof schema !== 'object' || schema === null) return schema;
  const moved = (key: string, value: unknown) =>
    key === '$ref' && typeof value === 'string' && /^#(\/|$)/.test(value)
      ? root + value.slice(1)
      : rerooted(value, root);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, moved(key, value)]));
}

/** With the data that the type of the event has. */
function payloadOf(name: string, typed: readonly CataloguedType[]): Schema {
  const whole = { $ref: `#/components/schemas/${name}` };
  if (typed.length === 0) return whole;
  const perType = typed.map(({ type }) => ({
    if: { required: ['type'], properties: { type: { type: 'string', pattern: `^(.*[.])?${type}$` } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { data: { $ref: `#/components/schemas/${type}_data` } } },
  }));
  return { type: 'object', allOf: [whole, ...perType] };
}

function messages(typed: readonly CataloguedType[]): Record<Name, Schema> {
  return {
    paymentEvent: message({
      title: 'A payment event',
      contentType: 'application/json',
      headers: COMMON_HEADERS,
      payload: payloadOf('paymentEvent', typed),
      examples: [{ payload: PLAIN }],
    }),
    structuredCloudEvent: message({
      title: 'A CloudEvent 1.0 in structured mode',
      contentType: 'application/cloudevents+json',
      headers: COMMON_HEADERS,
      payload: payloadOf('structuredCloudEvent', typed),
      examples: [{ payload: STRUCTURED }],
    }),
    binaryCloudEvent: message({
      title: 'A CloudEvent 1.0 in binary mode',
      summary: 'The attributes are Kafka headers. The header content-type gives the media type of the value.',
      headers: { type: 'object', allOf: [{ $ref: '#/components/schemas/binaryCloudEventHeaders' }, COMMON_HEADERS] },
      payload: { description: 'Any bytes, or none. Without the header ce_accountid, a JSON object with accountId.' },
      examples: [{ headers: BINARY_HEADERS, payload: STRUCTURED.data }],
    }),
  };
}

function message(of: Schema): Schema {
  return {
    ...of,
    correlationId: { location: '$message.header#/x-correlation-id' },
    bindings: { kafka: { key: KEY, bindingVersion: BINDING } },
  };
}

const COMMON_HEADERS = { $ref: '#/components/schemas/commonHeaders' };
const DATA = { amount: '10.00', currency: 'BRL' };
const TIME = '2026-11-21T09:00:00Z';
const PLAIN = { id: 'pay-1', type: 'cash_in', accountId: 42, timestamp: TIME, data: DATA };
const STRUCTURED = {
  specversion: '1.0',
  id: 'pay-1',
  source: '/payments',
  type: 'com.example.payments.cash_in',
  time: TIME,
  data: { accountId: 42, ...DATA },
};
const BINARY_HEADERS = {
  ce_specversion: '1.0',
  ce_id: 'pay-1',
  ce_source: '/payments',
  ce_type: 'com.example.payments.cash_in',
  ce_accountid: '42',
};

const SHOW_ASYNC_API: Operation = {
  id: 'showAsyncApi',
  method: 'get',
  path: '/asyncapi.json',
  tag: 'Documents',
  summary: 'Get the AsyncAPI document',
  description:
    'Returns the contract for payment systems: the payment topic, its records, and how to publish them over HTTP.',
  security: 'none',
  responses: {
    200: {
      description: 'The AsyncAPI document of this service.',
      schema: {
        title: 'AsyncApiDocument',
        description: 'An AsyncAPI 3.0 document.',
        type: 'object',
        required: ['asyncapi', 'info', 'channels', 'operations', 'components'],
        properties: {
          asyncapi: { type: 'string', description: 'The version of AsyncAPI.' },
          info: { type: 'object', description: 'The service and its version.' },
          defaultContentType: { type: 'string', description: 'The content type of payment events.' },
          channels: { type: 'object', description: 'The payment topic, and the call that publishes to it.' },
          operations: { type: 'object', description: 'How the service uses them.' },
          components: { type: 'object', description: 'Messages and schemas.' },
        },
      },
    },
  },
};

export function showAsyncApi(catalogue: EventCatalogue): Route {
  const document = JSON.stringify(asyncApiDocument(catalogue));
  return route(SHOW_ASYNC_API, (ctx) => {
    ctx.type = 'application/json';
    ctx.body = document;
  });
}
