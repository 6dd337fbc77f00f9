/** POST /api/webhooks: registers a URL for one event type or several, or updates the existing entry of this URL and type. */
import type { Context } from 'koa';
import { parseUrl } from '../../endpoints/endpoint-url.js';
import type { Command, RegisterWebhook } from '../../webhooks/decide.js';
import type { KeyedDecision } from '../../webhooks/handle-command.js';
import { EVENT_TYPES, type EventType, MAX_ACTIVE_PER_TYPE, MAX_WEBHOOKS } from '../../webhooks/limits.js';
import type { RegisteredWebhook } from '../../webhooks/state.js';
import { badRequest, fieldError, mustBeAccepted } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { bodyCheck } from '../body.js';
import { IDEMPOTENCY_KEY, KEY_TAKEN, keyTaken, markReplayed, REPLAYED_HEADER, requestKey } from '../idempotency.js';
import { route, write } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { list, object, optional, type Static } from '../schema.js';
import { DONE, EVENT_TYPE } from '../shared-schemas.js';
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

const REGISTER_WEBHOOK = write({
  id: 'registerWebhook',
  method: 'post',
  path: '/api/webhooks',
  summary: 'Register or update a webhook',
  description: `Registers a URL for an event type, or for several at once. If the account already has a webhook with this URL and type, its headers are replaced and it is active again. At most ${MAX_ACTIVE_PER_TYPE} webhooks of a type may be active.`,
  right: 'configure',
  headers: IDEMPOTENCY_KEY,
  body: { type: 'json', schema: REGISTRATION },
  responses: {
    200: {
      description:
        'The webhook is registered or updated. If that activates it and deliveries are held for it, `message` says how many, and how to send them.',
      schema: REGISTERED,
      headers: REPLAYED_HEADER,
    },
    400: `A field is not valid, ${MAX_ACTIVE_PER_TYPE} webhooks of the type are already active, the account has ${MAX_WEBHOOKS} webhooks, or they would exceed 1 MiB in total.`,
    422: KEY_TAKEN,
  },
});

const checkOne = bodyCheck<Registration>({ ...REGISTRATION, required: ['url', 'eventType'] });
const checkSeveral = bodyCheck<Registration>({ ...REGISTRATION, required: ['url', 'eventTypes'] });

export function registerWebhook(parts: ApiParts) {
  return route(REGISTER_WEBHOOK, async (ctx) => {
    const body = checkedBody(ctx.request.body);
    const key = requestKey(ctx, identityOf(body), parts.fingerprints);
    const { accountId, actor } = callerOf(ctx);
    const prepared = preparation(parts, accountId, body);
    const decision = await parts.handleKeyedCommand(accountId, key, prepared.prepare, commandContext(ctx, actor));
    prepared.giveBackUnused(decision.kind === 'accepted' ? registeredBy(decision) : []);
    await answer(ctx, decision, body, (webhookId) => parts.heldDeliveries(accountId, webhookId));
  });
}

/** @throws ApiError 400 */
function checkedBody(body: unknown): Registration {
  const isOfSeveral = typeof body === 'object' && body !== null && 'eventTypes' in body;
  if (!isOfSeveral) return checkOne(body);
  if ('eventType' in body)
    throw badRequest([fieldError('eventTypes', { code: 'not-together', params: { other: 'eventType' } })]);
  return checkSeveral(body);
}

function typesOf({ eventType, eventTypes = [] }: Registration): readonly EventType[] {
  return eventType ? [eventType] : eventTypes;
}

/** Decides whether two requests are the same: two spellings of a URL are, two orders of headers are not. */
function identityOf({ url, eventType, eventTypes, headers = [] }: Registration): unknown {
  const href = parseUrl(url)?.href ?? url;
  return [href, eventType ?? eventTypes, headers.map(({ key, value }) => [key, value])];
}

/** Prepares the command if no earlier response answers the request. @throws ApiError 400 for a refused URL or header */
function preparation(parts: ApiParts, accountId: number, body: Registration) {
  const newIds: number[] = [];
  return {
    async prepare(): Promise<Command> {
      const endpoint = sealedEndpoint(parts, accountId, body);
      const at = parts.now().toISOString();
      const registrations: RegisterWebhook[] = [];
      for (const eventType of typesOf(body)) {
        const newId = await parts.webhookIds.take();
        newIds.push(newId);
        registrations.push({ type: 'RegisterWebhook', ...endpoint, eventType, newId, at });
      }
      return { type: 'RegisterWebhooks', registrations };
    },
    giveBackUnused(used: readonly RegisteredWebhook[]): void {
      for (const newId of newIds) if (!used.some(({ id }) => id === newId)) parts.webhookIds.giveBack(newId);
    },
  };
}

async function answer(
  ctx: Context,
  decision: KeyedDecision,
  body: Registration,
  heldText: (webhookId: number) => Promise<string>,
): Promise<void> {
  if (decision.kind === 'key-taken') throw keyTaken();
  if (decision.kind === 'replayed') markReplayed(ctx);
  else
    mustBeAccepted(
      decision.kind === 'limit-reached' ? { ...decision, field: fieldOf(body, decision.eventType) } : decision,
    );
  const events = decision.kind === 'accepted' ? decision.events : [];
  const held: string[] = [];
  for (const { type, data } of events) if (type === 'WebhookActivated') held.push(await heldText(data.webhookId));
  const message = `${doneText(decision, body)}${held.join('')}`;
  const [webhook, ...others] = shownRegistered(decision, body);
  ctx.body = { success: true, message, ...(body.eventType ? { webhook } : { webhooks: [webhook, ...others] }) };
}

function fieldOf({ eventType, eventTypes = [] }: Registration, full: EventType): string {
  return eventType ? 'eventType' : `eventTypes[${eventTypes.indexOf(full)}]`;
}

function doneText(decision: KeyedDecision, { eventTypes }: Registration): string {
  if (eventTypes) return `the URL is registered for ${eventTypes.join(', ')}`;
  return eventTypeOf(decision) === 'WebhookAdded' ? 'webhook registered' : 'webhook updated';
}

/** As after this request, or after the first one with its key: both have these headers. */
function shownRegistered(decision: KeyedDecision, body: Registration) {
  const types = typesOf(body);
  const headers = byName((body.headers ?? []).map(({ key, value }) => [key, value] as const));
  return registeredBy(decision).map(({ id, url, createdAt }, index) => {
    return { id, type: types[index], url, headers, isActive: true, createdAt };
  });
}

function registeredBy(decision: KeyedDecision): readonly RegisteredWebhook[] {
  if (decision.kind === 'replayed') return decision.use.webhooks;
  return (decision.kind === 'accepted' && decision.registered) || [];
}

/** The type of the event that the request caused, now or earlier. */
function eventTypeOf(decision: KeyedDecision): string | undefined {
  if (decision.kind === 'replayed') return decision.use.eventType;
  return decision.kind === 'accepted' ? decision.events[0]?.type : undefined;
}
