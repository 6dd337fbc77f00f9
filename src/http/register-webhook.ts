/** POST /api/webhooks: registers a URL for an event type, or updates the entry that has this URL and type already. */
import { Ajv, type ErrorObject } from 'ajv';
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import { headerPlace, type Sealing } from '../secrets/sealing.js';
import type { Decision } from '../webhooks/decide.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import { type GivenHeader, headerProblems } from '../webhooks/header-rules.js';
import { EVENT_TYPES, type EventType, MAX_ACTIVE_PER_TYPE, MAX_HEADERS } from '../webhooks/limits.js';
import type { WebhookIds } from '../webhooks/webhook-ids.js';
import { ApiError, accountNotFound, badRequest, type FieldError, fieldError } from './api-error.js';
import { commandContext } from './request-context.js';

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

export type CheckedEndpoint =
  | { readonly ok: true; readonly href: string }
  | { readonly ok: false; readonly message: string };

export interface RegisterWebhookParts {
  readonly handleCommand: HandleCommand;
  readonly webhookIds: WebhookIds;
  readonly sealing: Sealing;
  /** The rules for URLs and, by DNS, for addresses. */
  readonly checkEndpoint: (url: string) => Promise<CheckedEndpoint>;
  readonly now: () => Date;
}

const validate = new Ajv({ allErrors: true }).compile<RegisterWebhookBody>(registerWebhookSchema);

export function registerWebhook(parts: RegisterWebhookParts) {
  return async (ctx: Context): Promise<void> => {
    const body = checked(ctx.request.body);
    const endpoint = await parts.checkEndpoint(body.url);
    if (!endpoint.ok) throw badRequest([{ field: 'url', message: endpoint.message }]);
    const decision = await register(parts, ctx, body, endpoint.href);
    ctx.body = { success: true, message: messageFor(decision) };
  };
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

function messageFor(decision: Decision): string {
  switch (decision.kind) {
    case 'accepted':
      return isNew(decision) ? 'webhook registered' : 'webhook updated';
    case 'account-not-found':
      throw accountNotFound();
    case 'limit-reached':
      throw badRequest([fieldError('eventType', `has ${MAX_ACTIVE_PER_TYPE} active webhooks already`)]);
    default:
      return decision satisfies never;
  }
}

/** @throws ApiError 400 that names every wrong field */
function checked(body: unknown): RegisterWebhookBody {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError(400, 'the body must be a JSON object');
  }
  if (!validate(body)) throw badRequest((validate.errors ?? []).slice(0, 20).map(schemaError));
  const problems = headerProblems(body.headers ?? []);
  if (problems.length === 0) return body;
  throw badRequest(problems.map(({ index, part, message }) => fieldError(`headers[${index}].${part}`, message)));
}

function schemaError(error: ErrorObject): FieldError {
  const missing = error.keyword === 'required' ? `/${error.params.missingProperty}` : '';
  return fieldError(fieldName(`${error.instancePath}${missing}`), predicate(error));
}

/** /headers/0/key -> headers[0].key */
function fieldName(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
}

function predicate(error: ErrorObject): string {
  if (error.keyword === 'required') return 'is missing';
  if (error.keyword === 'enum') return `must be one of ${EVENT_TYPES.join(', ')}`;
  if (error.keyword === 'maxItems') return `must have at most ${MAX_HEADERS} entries`;
  return error.message ?? 'is not valid';
}
