import { MAX_URL_CHARACTERS, parseUrl } from '../../endpoints/endpoint-url.js';
import { list, object, optional, type Static } from '../../schema.js';
import type { Command, RegisterWebhook } from '../../webhooks/decide.js';
import type { KeyedDecision } from '../../webhooks/handle-command.js';
import { EVENT_TYPES, type EventType, MAX_ACTIVE_PER_TYPE, MAX_WEBHOOKS } from '../../webhooks/limits.js';
import type { RegisteredWebhook } from '../../webhooks/state.js';
import { mustBeAccepted } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { KEYED, REPLAYED, requestKey } from '../idempotency.js';
import { type Commanded, write } from '../operation.js';
import { requesterOf } from '../request-context.js';
import { DONE, EVENT_TYPE } from '../shared-schemas.js';
import { describeHeld } from './held-deliveries.js';
import { byName, ENDPOINT_FIELDS, sealedEndpoint, WEBHOOK } from './webhook-fields.js';

const { url, headers } = ENDPOINT_FIELDS;
const EVENT_TYPE_LIST = list(
  'Instead of `eventType`: the types to register for, all or, if one is refused, none.',
  EVENT_TYPE,
  { minItems: 1, maxItems: EVENT_TYPES.length, uniqueItems: true },
);
const REGISTRATION = {
  ...object('WebhookRegistration', 'The URL to send the payment events of one type, or of several, to.', {
    url,
    eventType: optional(EVENT_TYPE),
    eventTypes: optional(EVENT_TYPE_LIST),
    headers: optional(headers),
  }),
  oneOf: [{ required: ['eventType'] }, { required: ['eventTypes'] }],
};
type Registration = Static<typeof REGISTRATION>;

const REGISTERED = {
  ...object('RegisteredWebhook', '`webhook` if `eventType` was given, `webhooks` if `eventTypes` was.', {
    ...DONE,
    webhook: optional(WEBHOOK),
    webhooks: optional(list('One for each type, in the order of `eventTypes`.', WEBHOOK)),
  }),
  oneOf: [{ required: ['webhook'] }, { required: ['webhooks'] }],
};

export const registerWebhook = write({
  id: 'registerWebhook',
  method: 'post',
  path: '/api/webhooks',
  description: `Registers a URL for an event type, or for several at once. If the account already has a webhook with this URL and type, its headers are replaced and it is active again; if deliveries are held for it, \`message\` says how many, and how to send them. At most ${MAX_ACTIVE_PER_TYPE} webhooks of a type may be active; an account has at most ${MAX_WEBHOOKS}, of 1 MiB in total.`,
  body: { type: 'json', schema: REGISTRATION },
  maxResponseBytes,
  returns: REGISTERED,
  ...KEYED,
}).answer(async (parts, asked) => {
  const { ctx, accountId, body, context } = asked;
  const key = requestKey(ctx, identityOf(body), parts.fingerprints);
  const newIds: number[] = [];
  const prepare = () => prepared(parts, asked, newIds);
  const decision = await parts.handleKeyedCommand(accountId, key, prepare, context);
  const registered = registeredBy(decision);
  for (const id of newIds) if (!registered.some((one) => one.id === id)) parts.webhookIds.giveBack(id);
  if (decision.kind === 'limit-reached') {
    mustBeAccepted({ ...decision, field: fieldOf(body, decision.eventType) });
  } else if (decision.kind === 'replayed') ctx.set(REPLAYED, 'true');
  else mustBeAccepted(decision);
  // Nothing can be held for a new webhook.
  const existing = registered.map(({ id }) => id).filter((id) => !newIds.includes(id));
  const held = existing.length === 0 ? '' : await describeHeld(parts, requesterOf(ctx), existing);
  return answerOf(body, registered, wasAdded(decision), held);
});

/** For each type the response repeats the headers, and the URL: in the spelling of the first request that had its key. */
function maxResponseBytes({ url, headers, ...types }: Registration): number {
  const repeated = MAX_URL_CHARACTERS + Buffer.byteLength(JSON.stringify({ url, headers }));
  return typesOf({ url, ...types }).length * repeated;
}

/** Decides whether two requests are the same: two spellings of a URL are, two orders of headers are not. */
function identityOf({ url, eventType, eventTypes, headers = [] }: Registration): unknown {
  const href = parseUrl(url)?.href ?? url;
  return [href, eventType ?? eventTypes, headers.map(({ key, value }) => [key, value])];
}

/** Made if no earlier response answers the request. @param newIds gets those that it takes @throws ApiError 400 */
async function prepared(
  parts: ApiParts,
  { accountId, body, at }: Pick<Commanded<{ body: { schema: typeof REGISTRATION } }>, 'accountId' | 'body' | 'at'>,
  newIds: number[],
): Promise<Command> {
  const endpoint = sealedEndpoint(parts, accountId, body);
  const registrations: RegisterWebhook[] = [];
  for (const eventType of typesOf(body)) {
    const newId = await parts.webhookIds.take();
    newIds.push(newId);
    registrations.push({ type: 'RegisterWebhook', ...endpoint, eventType, newId, at });
  }
  return { type: 'RegisterWebhooks', registrations };
}

function typesOf({ eventType, eventTypes = [] }: Registration): readonly EventType[] {
  return eventType ? [eventType] : eventTypes;
}

function fieldOf({ eventType, eventTypes = [] }: Registration, full: EventType): string {
  return eventType ? 'eventType' : `eventTypes[${eventTypes.indexOf(full)}]`;
}

function registeredBy(decision: KeyedDecision): readonly RegisteredWebhook[] {
  if (decision.kind === 'replayed') return decision.use.webhooks;
  return (decision.kind === 'accepted' && decision.registered) || [];
}

/** By the first event that the request caused, now or earlier. */
function wasAdded(decision: KeyedDecision): boolean {
  if (decision.kind === 'replayed') return decision.use.eventType === 'WebhookAdded';
  return decision.kind === 'accepted' && decision.events[0]?.type === 'WebhookAdded';
}

/** As after this request, or after the first one with its key: both have these headers. */
function answerOf(body: Registration, registered: readonly RegisteredWebhook[], isNew: boolean, held: string) {
  const types = typesOf(body);
  const headers = byName((body.headers ?? []).map(({ key, value }) => [key, value] as const));
  const webhooks = registered.map(({ id, url, createdAt }, index) => {
    return { id, type: types[index], url, headers, isActive: true, createdAt };
  });
  const message = `${body.eventType ? 'webhook' : 'webhooks'} ${isNew ? 'registered' : 'updated'}${held}`;
  return { success: true, message, ...(body.eventType ? { webhook: webhooks[0] } : { webhooks }) };
}
