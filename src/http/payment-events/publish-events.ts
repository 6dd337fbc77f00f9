/**
 * POST /api/payment-events: payment systems without a client of the broker publish by HTTP. The topic stays the truth: an
 * event is a record like any other, and 202 means that it is durable there.
 */
import type { Context } from 'koa';
import { type Requester, requester } from '../../limits/user-limits.js';
import { structuredCloudEventSchema } from '../../payments/payment-event-schema.js';
import {
  BrokerUnavailable,
  HEADER_OVERHEAD_BYTES,
  heldBytes,
  RecordRefused,
  TimestampRefused,
} from '../../ports/broker.js';
import { count, object, type Schema, text } from '../../schema.js';
import { ApiError, badRequest, fieldError, retryAfter } from '../api-error.js';
import { readBody } from '../body.js';
import { ByteLimits, type MaxBytes } from '../byte-limits.js';
import { PAYMENT_EVENT } from '../documents/payment-event-webhook.js';
import { FairQueue } from '../fair-queue.js';
import { operation, route } from '../operation.js';
import { parseQuery, textQuery } from '../query.js';
import { publisherOf } from '../request-context.js';
import { DONE } from '../shared-schemas.js';
import { type Publishing, PublishingPace } from './publishing-pace.js';
import { CLOUD_EVENT, CLOUD_EVENT_BATCH, commonHeaders, formOf, MAX_EVENTS, NDJSON, recordsOf } from './read-events.js';

const MIB = 1024 * 1024;
const MAX_BODY_BYTES = MIB;
/** A publisher has no users that could harm each other: each of its clients may take all of it. */
const MAX_IN_PROGRESS: MaxBytes = { user: 16 * MIB, owner: 16 * MIB, process: 64 * MIB };
const AGAIN = 'Some of the events may be published: send the request again; receivers drop duplicates by webhook-id.';

const { required, properties } = structuredCloudEventSchema;

const CLOUD_EVENT_SCHEMA: Schema = {
  title: 'CloudEvent',
  description: 'A payment event as a CloudEvent 1.0 in the JSON event format. It is delivered byte for byte.',
  type: 'object',
  required,
  properties: { ...properties, data: { description: properties.data.description } },
};

const PUBLISH_PAYMENT_EVENTS = operation({
  id: 'publishPaymentEvents',
  method: 'post',
  path: '/api/payment-events',
  description: `Publishes payment events, byte for byte and in the order given; needs the token of a publisher. The content type says what the body is: one event, one event a line, a CloudEvent, or a batch of CloudEvents. With a \`ce-specversion\` header and any other content type, the request is one CloudEvent in binary mode. At most ${MAX_EVENTS} events and ${MAX_BODY_BYTES} bytes. A 400, 403, 413 or 415 published nothing, and errors name each event by its index in the request, from 0, as \`[2].type\`. Publishing an event again is safe: receivers get the same \`webhook-id\`.`,
  security: 'publisher',
  body: {
    type: 'own',
    content: {
      'application/json': PAYMENT_EVENT,
      [NDJSON]: text('One event a line. Blank lines are skipped, and CRLF ends a line, too.'),
      [CLOUD_EVENT]: CLOUD_EVENT_SCHEMA,
      [CLOUD_EVENT_BATCH]: { type: 'array', maxItems: MAX_EVENTS, items: CLOUD_EVENT_SCHEMA },
    },
  },
  query: { topic: textQuery('The payment topic, one of PAYMENT_TOPICS. Without it: the first of them.') },
  headers: {
    traceparent: text('W3C trace context. Each delivery continues the trace.'),
    'X-Correlation-Id': text('Appears in every log line about the events. 1 to 128 letters, digits and `_.:-`.'),
  },
  returns: object('Accepted', 'Every event is durable in the topic.', {
    ...DONE,
    accepted: count('How many events were published.'),
  }),
  status: 202,
  refusals: {
    400: 'An event is not a payment event, or the topic is not a payment topic. Nothing was published.',
    413: `The body exceeds ${MAX_BODY_BYTES} bytes or ${MAX_EVENTS} events. Nothing was published.`,
    503: `The broker is unavailable, its settings refuse an event, or too many events are in progress; Retry-After says when to try again. ${AGAIN}`,
  },
});

/** @param max bytes in progress, of a publisher and of all */
export function publishEvents({ broker, topics, ...paced }: Publishing, max: MaxBytes = MAX_IN_PROGRESS) {
  const limits = new ByteLimits(max);
  const slices = new FairQueue();
  const pace = new PublishingPace(paced);

  return route(PUBLISH_PAYMENT_EVENTS, async (ctx) => {
    const { publisher, actor } = publisherOf(ctx);
    const counted = requester(publisher, actor);
    let held = 0;
    const take = (bytes: number) => {
      if (!limits.take(counted, bytes)) throw new ApiError({ code: 'too-many-in-progress' }, retryAfter(1_000));
      held += bytes;
    };
    try {
      ctx.body = accepted(await publish(ctx, counted, take));
      ctx.status = 202;
    } finally {
      limits.giveBack(counted, held);
    }
  });

  async function publish(ctx: Context, counted: Requester, take: (bytes: number) => void): Promise<number> {
    const { valuesOf, headers } = formOf(ctx);
    const body = await readBody(ctx, MAX_BODY_BYTES, take);
    const topic = topicOf(ctx, topics);
    const all = [...headers, ...commonHeaders(ctx)];
    const records = await recordsOf(body, { valuesOf, headers: all }, () => slices.pause(counted));
    // Beside its bytes, a record in progress takes about as much as a header, and its headers are those of the request.
    take(records.length * (HEADER_OVERHEAD_BYTES + heldBytes({ key: null, value: null, headers: all })));
    await pace.admit(records.length);
    if (records.length > 0) await broker.publish(topic, records).catch(unpublished);
    return records.length;
  }
}

/** @throws ApiError 400 */
function topicOf(ctx: Context, topics: Publishing['topics']): string {
  const { topic = topics[0] } = parseQuery(ctx);
  if (typeof topic === 'string' && topics.includes(topic)) return topic;
  throw badRequest([fieldError('topic', { code: 'not-one-of', params: { allowed: topics } })]);
}

function accepted(events: number) {
  const message = events === 1 ? '1 event was published' : `${events} events were published`;
  return { success: true, message, accepted: events };
}

function unpublished(error: unknown): never {
  const code = codeOf(error);
  if (code === null) throw error;
  throw new ApiError({ code, params: { why: AGAIN } }, retryAfter(5_000));
}

function codeOf(error: unknown) {
  if (error instanceof TimestampRefused) return 'clock-wrong';
  if (error instanceof RecordRefused) return 'topic-refuses';
  return error instanceof BrokerUnavailable ? 'broker-unavailable' : null;
}
