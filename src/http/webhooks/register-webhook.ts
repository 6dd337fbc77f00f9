/** POST /api/webhooks: registers a URL for an event type, or updates the existing entry of this URL and type. */
import type { Context } from 'koa';
import { MAX_URL_CHARACTERS } from '../../endpoints/endpoint-url.js';
import { parseUrl } from '../../endpoints/parse-url.js';
import type { Fingerprints } from '../../idempotency/fingerprint.js';
import { headerPlace, type Sealing } from '../../secrets/sealing.js';
import type { RegisterWebhook } from '../../webhooks/decide.js';
import type { HandleKeyedCommand, KeyedDecision } from '../../webhooks/handle-command.js';
import { type GivenHeader, HEADER_NAME, HEADER_VALUE, headerProblems } from '../../webhooks/header-rules.js';
import {
  type EventType,
  MAX_ACTIVE_PER_TYPE,
  MAX_HEADER_NAME_LENGTH,
  MAX_HEADER_VALUE_LENGTH,
  MAX_HEADERS,
  MAX_WEBHOOKS,
} from '../../webhooks/limits.js';
import type { WebhookIds } from '../../webhooks/webhook-ids.js';
import { badRequest, fieldError } from '../api-error.js';
import { bodyCheck } from '../checked-body.js';
import { IDEMPOTENCY_KEY, KEY_TAKEN, keyTaken, markReplayed, REPLAYED_HEADER, requestKey } from '../idempotency.js';
import { type Link, type Operation, refusal, TOO_MUCH } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { EVENT_TYPE, SUCCESS } from '../shared-schemas.js';
import { byName, WEBHOOK } from './shown-webhook.js';
import { mustBeAccepted } from './webhook-command.js';

export interface RegisterWebhookBody {
  readonly url: string;
  readonly eventType: EventType;
  readonly headers?: readonly GivenHeader[];
}

const registerWebhookSchema = {
  title: 'WebhookRegistration',
  description: 'The URL to send the payment events of one type to.',
  type: 'object',
  required: ['url', 'eventType'],
  properties: {
    url: {
      type: 'string',
      format: 'uri',
      pattern: '^[Hh][Tt][Tt][Pp][Ss]://',
      maxLength: MAX_URL_CHARACTERS,
      description:
        'The absolute https URL of the receiver. The host is a public domain name, and the port is 443 or 8443 unless the operator allows others. User name, password and fragment are refused. Two spellings are the same URL if they are normalised to the same one by the [WHATWG URL standard](https://url.spec.whatwg.org/): the host in lower case and in ASCII (Punycode), port 443 omitted, `.` and `..` segments resolved (also as `%2e`), and spaces, quotes and non-ASCII characters in path and query percent-encoded. Requests go to the normalised URL; the characters `{ } | ^ [ ]`, backticks, and percent signs that encode nothing are percent-encoded there too.',
      examples: ['https://shop.example.com/payments'],
    },
    eventType: EVENT_TYPE,
    headers: {
      type: 'array',
      maxItems: MAX_HEADERS,
      description: 'Headers to send with each event. They replace all headers of an earlier registration.',
      items: {
        title: 'WebhookHeader',
        description: 'A header that is sent with each event.',
        type: 'object',
        required: ['key', 'value'],
        properties: {
          key: {
            type: 'string',
            pattern: HEADER_NAME.source,
            maxLength: MAX_HEADER_NAME_LENGTH,
            description: `The header's name (an RFC 9110 token). Names are case-insensitive, and each may occur once. Headers that HTTP or the service sets are refused: \`content-type\`, \`webhook-*\` and the like.`,
            examples: ['X-Api-Key'],
          },
          value: {
            type: 'string',
            pattern: HEADER_VALUE.source,
            maxLength: MAX_HEADER_VALUE_LENGTH,
            description:
              "The header's value: visible ASCII characters, with spaces or tabs only between them. It may be empty.",
            examples: ['k-123'],
          },
        },
      },
    },
  },
} as const;

const registeredSchema = {
  title: 'RegisteredWebhook',
  description: 'The response to a registration.',
  type: 'object',
  required: [...SUCCESS.required, 'webhook'],
  properties: { ...SUCCESS.properties, webhook: WEBHOOK },
} as const;

/** A link from the webhook of the answer. */
function ofWebhook(operationId: string, description: string): Link {
  return { operationId, description, parameters: { id: '$response.body#/webhook/id' } };
}

const LINKS = {
  showWebhook: ofWebhook('showWebhook', 'Get the webhook.'),
  setWebhookActive: ofWebhook('setWebhookActive', 'Activate or deactivate the webhook.'),
  removeWebhook: ofWebhook('removeWebhook', 'Remove the webhook.'),
  listDeliveries: ofWebhook('listDeliveries', 'List the deliveries of the webhook.'),
  testWebhook: ofWebhook('testWebhook', 'Send a test event to the webhook.'),
};

export const operation: Operation = {
  id: 'registerWebhook',
  method: 'post',
  path: '/api/webhooks',
  tag: 'Webhooks',
  summary: 'Register or update a webhook',
  description: `Registers a URL for an event type. If the account already has a webhook with this URL and type, its headers are replaced and it is active again. At most ${MAX_ACTIVE_PER_TYPE} webhooks of a type may be active.`,
  security: 'bearer',
  rateLimit: 'writes',
  parameters: [IDEMPOTENCY_KEY],
  body: { type: 'json', schema: registerWebhookSchema },
  responses: {
    200: {
      description: 'The webhook is registered or updated.',
      schema: registeredSchema,
      headers: REPLAYED_HEADER,
      links: LINKS,
    },
    400: refusal(
      `A field is not valid, ${MAX_ACTIVE_PER_TYPE} webhooks of the type are already active, the account has ${MAX_WEBHOOKS} webhooks, or they would exceed 1 MiB in total.`,
    ),
    404: refusal('The account is not registered.'),
    422: KEY_TAKEN,
    429: TOO_MUCH,
  },
};

export type CheckedEndpoint =
  | { readonly ok: true; readonly href: string }
  | { readonly ok: false; readonly message: string };

export interface RegisterWebhookParts {
  readonly handleKeyedCommand: HandleKeyedCommand;
  readonly fingerprints: Fingerprints;
  readonly webhookIds: WebhookIds;
  readonly sealing: Sealing;
  /**
   * Checks the URL's text only: names are resolved at each connection, so a response reveals nothing about where they
   * lead.
   */
  readonly checkEndpoint: (url: string) => CheckedEndpoint;
  readonly now: () => Date;
}

const AT_LIMIT = fieldError('eventType', `already has ${MAX_ACTIVE_PER_TYPE} active webhooks`);
const checkFields = bodyCheck<RegisterWebhookBody>(registerWebhookSchema);

export function registerWebhook(parts: RegisterWebhookParts) {
  return async (ctx: Context): Promise<void> => {
    const body = checked(ctx.request.body);
    const key = requestKey(ctx, identityOf(body), parts.fingerprints);
    const { accountId, actor } = callerOf(ctx);
    const prepared = preparation(parts, accountId, body);
    const decision = await parts.handleKeyedCommand(accountId, key, prepared.prepare, commandContext(ctx, actor));
    if (eventTypeOf(decision) !== 'WebhookAdded' || decision.kind === 'replayed') prepared.giveBackId();
    answer(ctx, decision, body);
  };
}

/** Decides whether two requests are the same: two spellings of a URL are, two orders of headers are not. */
function identityOf({ url, eventType, headers = [] }: RegisterWebhookBody): unknown {
  const href = parseUrl(url)?.href ?? url;
  return [href, eventType, headers.map(({ key, value }) => [key, value])];
}

/** Prepares the command if no earlier response answers the request. @throws ApiError 400 for a refused URL */
function preparation(parts: RegisterWebhookParts, accountId: number, body: RegisterWebhookBody) {
  let newId: number | null = null;
  return {
    async prepare(): Promise<RegisterWebhook> {
      const endpoint = parts.checkEndpoint(body.url);
      if (!endpoint.ok) throw badRequest([{ field: 'url', message: endpoint.message }]);
      newId = await parts.webhookIds.take();
      const { url, eventType } = body;
      const at = parts.now().toISOString();
      const headers = sealedHeaders(parts.sealing, accountId, body.headers ?? []);
      return { type: 'RegisterWebhook', url, endpoint: endpoint.href, eventType, ...headers, newId, at };
    },
    giveBackId(): void {
      if (newId !== null) parts.webhookIds.giveBack(newId);
    },
  };
}

function sealedHeaders({ seal, holds }: Sealing, accountId: number, given: readonly GivenHeader[]) {
  const place = (name: string) => headerPlace(accountId, name);
  const headers = given.map(({ key, value }) => ({ key, sealed: seal(value, place(key)) }));
  const isHeldBy: RegisterWebhook['isHeldBy'] = (kept) =>
    kept.length === given.length &&
    kept.every(({ key, sealed }, index) => {
      const header = given[index];
      return header?.key === key && holds(sealed, header.value, place(key));
    });
  return { headers, isHeldBy };
}

function answer(ctx: Context, decision: KeyedDecision, body: RegisterWebhookBody): void {
  if (decision.kind === 'key-taken') throw keyTaken();
  if (decision.kind === 'replayed') markReplayed(ctx);
  else mustBeAccepted(decision, AT_LIMIT);
  const message = eventTypeOf(decision) === 'WebhookAdded' ? 'webhook registered' : 'webhook updated';
  ctx.body = { success: true, message, webhook: shownRegistered(decision, body) };
}

/** As after this request, or after the first one with its key: both have these headers. */
function shownRegistered(decision: KeyedDecision, { eventType: type, headers = [] }: RegisterWebhookBody) {
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

/** @throws ApiError 400 that names every wrong field */
function checked(given: unknown): RegisterWebhookBody {
  const body = checkFields(given);
  const problems = headerProblems(body.headers ?? []);
  if (problems.length === 0) return body;
  throw badRequest(problems.map(({ index, part, message }) => fieldError(`headers[${index}].${part}`, message)));
}
