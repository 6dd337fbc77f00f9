/** POST /api/webhooks: registers a URL for an event type, or updates the existing entry of this URL and type. */
import type { Context } from 'koa';
import { parseUrl } from '../../endpoints/endpoint-url.js';
import type { Fingerprints } from '../../secrets/fingerprint.js';
import type { RegisterWebhook } from '../../webhooks/decide.js';
import type { HandleKeyedCommand, KeyedDecision } from '../../webhooks/handle-command.js';
import { MAX_ACTIVE_PER_TYPE, MAX_WEBHOOKS } from '../../webhooks/limits.js';
import type { WebhookIds } from '../../webhooks/webhook-ids.js';
import { fieldError } from '../api-error.js';
import { bodyCheck } from '../body.js';
import { IDEMPOTENCY_KEY, KEY_TAKEN, keyTaken, markReplayed, REPLAYED_HEADER, requestKey } from '../idempotency.js';
import { type Link, refusal, route, write } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { object, optional, type Static } from '../schema.js';
import { DONE, EVENT_TYPE } from '../shared-schemas.js';
import type { HeldDeliveries } from './show-webhook.js';
import { mustBeAccepted } from './webhook-command.js';
import { byName, ENDPOINT_FIELDS, type EndpointParts, sealedEndpoint, WEBHOOK } from './webhook-fields.js';

const REGISTRATION = object('WebhookRegistration', 'The URL to send the payment events of one type to.', {
  url: ENDPOINT_FIELDS.url,
  eventType: EVENT_TYPE,
  headers: optional(ENDPOINT_FIELDS.headers),
});
type Registration = Static<typeof REGISTRATION>;

function ofWebhook(operationId: string, description: string): Link {
  return { operationId, description, parameters: { id: '$response.body#/webhook/id' } };
}

const LINKS = {
  showWebhook: ofWebhook('showWebhook', 'Get the webhook.'),
  updateWebhook: ofWebhook('updateWebhook', 'Change the webhook.'),
  removeWebhook: ofWebhook('removeWebhook', 'Remove the webhook.'),
  listDeliveries: ofWebhook('listDeliveries', 'List the deliveries of the webhook.'),
  testWebhook: ofWebhook('testWebhook', 'Send a test event to the webhook.'),
};

const REGISTER_WEBHOOK = write({
  id: 'registerWebhook',
  method: 'post',
  path: '/api/webhooks',
  tag: 'Webhooks',
  summary: 'Register or update a webhook',
  description: `Registers a URL for an event type. If the account already has a webhook with this URL and type, its headers are replaced and it is active again. At most ${MAX_ACTIVE_PER_TYPE} webhooks of a type may be active.`,
  right: 'configure',
  headers: IDEMPOTENCY_KEY,
  body: { type: 'json', schema: REGISTRATION },
  responses: {
    200: {
      description:
        'The webhook is registered or updated. If that activates it and deliveries are held for it, `message` says how many, and how to send them.',
      schema: object('RegisteredWebhook', 'The response to a registration.', { ...DONE, webhook: WEBHOOK }),
      headers: REPLAYED_HEADER,
      links: LINKS,
    },
    400: refusal(
      `A field is not valid, ${MAX_ACTIVE_PER_TYPE} webhooks of the type are already active, the account has ${MAX_WEBHOOKS} webhooks, or they would exceed 1 MiB in total.`,
    ),
    422: KEY_TAKEN,
  },
});

export interface RegisterWebhookParts extends EndpointParts {
  readonly handleKeyedCommand: HandleKeyedCommand;
  readonly fingerprints: Fingerprints;
  readonly webhookIds: WebhookIds;
  readonly heldDeliveries: HeldDeliveries;
  readonly now: () => Date;
}

const AT_LIMIT = fieldError('eventType', `already has ${MAX_ACTIVE_PER_TYPE} active webhooks`);
const checkFields = bodyCheck(REGISTRATION);

export function registerWebhook(parts: RegisterWebhookParts) {
  return route(REGISTER_WEBHOOK, async (ctx) => {
    const body = checkFields(ctx.request.body);
    const key = requestKey(ctx, identityOf(body), parts.fingerprints);
    const { accountId, actor } = callerOf(ctx);
    const prepared = preparation(parts, accountId, body);
    const decision = await parts.handleKeyedCommand(accountId, key, prepared.prepare, commandContext(ctx, actor));
    if (eventTypeOf(decision) !== 'WebhookAdded' || decision.kind === 'replayed') prepared.giveBackId();
    await answer(ctx, decision, body, (webhookId) => parts.heldDeliveries(accountId, webhookId));
  });
}

/** Decides whether two requests are the same: two spellings of a URL are, two orders of headers are not. */
function identityOf({ url, eventType, headers = [] }: Registration): unknown {
  const href = parseUrl(url)?.href ?? url;
  return [href, eventType, headers.map(({ key, value }) => [key, value])];
}

/** Prepares the command if no earlier response answers the request. @throws ApiError 400 for a refused URL or header */
function preparation(parts: RegisterWebhookParts, accountId: number, body: Registration) {
  let newId: number | null = null;
  return {
    async prepare(): Promise<RegisterWebhook> {
      const endpoint = sealedEndpoint(parts, accountId, body);
      newId = await parts.webhookIds.take();
      const at = parts.now().toISOString();
      return { type: 'RegisterWebhook', ...endpoint, eventType: body.eventType, newId, at };
    },
    giveBackId(): void {
      if (newId !== null) parts.webhookIds.giveBack(newId);
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
  else mustBeAccepted(decision, AT_LIMIT);
  const message = eventTypeOf(decision) === 'WebhookAdded' ? 'webhook registered' : 'webhook updated';
  const activated =
    decision.kind === 'accepted' ? decision.events.find(({ type }) => type === 'WebhookActivated') : null;
  const held = activated?.type === 'WebhookActivated' ? await heldText(activated.data.webhookId) : '';
  ctx.body = { success: true, message: `${message}${held}`, webhook: shownRegistered(decision, body) };
}

/** As after this request, or after the first one with its key: both have these headers. */
function shownRegistered(decision: KeyedDecision, { eventType: type, headers = [] }: Registration) {
  const webhook = decision.kind === 'replayed' ? decision.use.webhook : registeredBy(decision);
  if (!webhook) throw new Error('a registration that registered no webhook');
  const { id, url, createdAt } = webhook;
  const values = headers.map(({ key, value }) => [key, value] as const);
  return { id, type, url, headers: byName(values), isActive: true, createdAt };
}

function registeredBy(decision: KeyedDecision) {
  return decision.kind === 'accepted' ? decision.registered : undefined;
}

/** The type of the event that the request caused, now or earlier. */
function eventTypeOf(decision: KeyedDecision): string | undefined {
  if (decision.kind === 'replayed') return decision.use.eventType;
  return decision.kind === 'accepted' ? decision.events[0]?.type : undefined;
}
