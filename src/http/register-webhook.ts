/** POST /api/webhooks: registers a URL for an event type, or updates the entry that has this URL and type already. */
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import { headerPlace, type Sealing } from '../secrets/sealing.js';
import type { Decision } from '../webhooks/decide.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import { type GivenHeader, headerProblems } from '../webhooks/header-rules.js';
import { EVENT_TYPES, type EventType, MAX_ACTIVE_PER_TYPE, MAX_HEADERS } from '../webhooks/limits.js';
import type { WebhookIds } from '../webhooks/webhook-ids.js';
import { badRequest, fieldError } from './api-error.js';
import { bodyCheck } from './checked-body.js';
import { type AnswerOnce, IDEMPOTENCY_KEY, KEY_TAKEN, REPLAYED_HEADER } from './idempotency.js';
import { DONE, type Operation, refusal } from './operation.js';
import { commandContext } from './request-context.js';
import { mustBeAccepted } from './webhook-command.js';

export interface RegisterWebhookBody {
  readonly url: string;
  readonly eventType: EventType;
  readonly headers?: readonly GivenHeader[];
}

export const registerWebhookSchema = {
  type: 'object',
  required: ['url', 'eventType'],
  properties: {
    url: { type: 'string' },
    eventType: { enum: EVENT_TYPES },
    headers: {
      type: 'array',
      maxItems: MAX_HEADERS,
      items: {
        type: 'object',
        required: ['key', 'value'],
        properties: { key: { type: 'string' }, value: { type: 'string' } },
      },
    },
  },
} as const;

export const operation: Operation = {
  id: 'registerWebhook',
  method: 'post',
  path: '/api/webhooks',
  summary: 'Registers a URL for an event type, or updates the webhook that has this URL and type already.',
  security: 'bearer',
  rateLimit: 'writes',
  parameters: [IDEMPOTENCY_KEY],
  body: { type: 'json', schema: registerWebhookSchema },
  responses: {
    200: { description: 'Registered, or updated.', schema: DONE, headers: REPLAYED_HEADER },
    400: refusal(
      `A field is not valid, or ${MAX_ACTIVE_PER_TYPE} URLs are active for the type already, or the account is full.`,
    ),
    404: refusal('The account is not known.'),
    422: KEY_TAKEN,
  },
};

export type CheckedEndpoint =
  | { readonly ok: true; readonly href: string }
  | { readonly ok: false; readonly message: string };

export interface RegisterWebhookParts {
  readonly handleCommand: HandleCommand;
  readonly webhookIds: WebhookIds;
  readonly sealing: Sealing;
  /** The rules for URLs and, by DNS, for addresses. */
  readonly checkEndpoint: (url: string) => Promise<CheckedEndpoint>;
  readonly answerOnce: AnswerOnce;
  readonly now: () => Date;
}

const AT_LIMIT = fieldError('eventType', `has ${MAX_ACTIVE_PER_TYPE} active webhooks already`);
const checkFields = bodyCheck<RegisterWebhookBody>(registerWebhookSchema);

export function registerWebhook(parts: RegisterWebhookParts) {
  return async (ctx: Context): Promise<void> => {
    const body = checked(ctx.request.body);
    await parts.answerOnce(ctx, identityOf(body), async () => {
      const endpoint = await parts.checkEndpoint(body.url);
      if (!endpoint.ok) throw badRequest([{ field: 'url', message: endpoint.message }]);
      return async () => {
        const decision = await register(parts, ctx, body, endpoint.href);
        mustBeAccepted(decision, AT_LIMIT);
        return isNew(decision) ? 'webhook registered' : 'webhook updated';
      };
    });
  };
}

/** What makes two requests the same one: two spellings of a URL are, two orders of headers are not. */
function identityOf({ url, eventType, headers = [] }: RegisterWebhookBody): unknown {
  const href = URL.canParse(url) ? new URL(url).href : url;
  return [href, eventType, headers.map(({ key, value }) => [key, value])];
}

async function register(
  parts: RegisterWebhookParts,
  ctx: Context,
  body: RegisterWebhookBody,
  endpoint: string,
): Promise<Decision> {
  const { accountId, actor } = ctx.state.caller as Caller;
  const newId = await parts.webhookIds.take();
  const { url, eventType } = body;
  const headers = (body.headers ?? []).map(({ key, value }) => ({
    key,
    sealed: parts.sealing.seal(value, headerPlace(accountId, key)),
  }));
  const at = parts.now().toISOString();
  const command = { type: 'RegisterWebhook', url, endpoint, eventType, headers, newId, at } as const;
  const decision = await parts.handleCommand(accountId, command, commandContext(ctx, actor));
  if (!isNew(decision)) parts.webhookIds.giveBack(newId);
  return decision;
}

function isNew(decision: Decision): boolean {
  return decision.kind === 'accepted' && decision.events[0]?.type === 'WebhookAdded';
}

/** @throws ApiError 400 that names every wrong field */
function checked(given: unknown): RegisterWebhookBody {
  const body = checkFields(given);
  const problems = headerProblems(body.headers ?? []);
  if (problems.length === 0) return body;
  throw badRequest(problems.map(({ index, part, message }) => fieldError(`headers[${index}].${part}`, message)));
}
