/** GET and POST /api/webhooks/{id}/recover, and POST /api/recoveries: what a recovery would send, and its start. */
import type { Context } from 'koa';
import {
  type AccountView,
  type AskView,
  RECOVERABLE,
  type Recoverable,
  type RecoverableCount,
  UNDELIVERED,
} from '../../ports/deliveries-view.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import { MAX_WEBHOOKS } from '../../webhooks/limits.js';
import type { Webhook } from '../../webhooks/state.js';
import { badRequest, type FieldError, fieldError } from '../api-error.js';
import { bodyCheck } from '../body.js';
import { queried } from '../deliveries/delivery-page.js';
import { timeOf } from '../deliveries/page-query.js';
import {
  type Operation,
  READ,
  type Route,
  refusal,
  route,
  TOO_MUCH,
  WEBHOOK_ID,
  WEBHOOK_NOT_FOUND,
  WRITE,
} from '../operation.js';
import type { ReadLimit } from '../rate-limit.js';
import { type Reading, readRoute, viewAnswer } from '../read-answer.js';
import { callerOf, commandContext } from '../request-context.js';
import { TIME, TIME_OR_NULL, timeText } from '../shared-schemas.js';
import { mustBeAccepted, type OwnWebhook, webhookIdOf } from '../webhooks/webhook-command.js';
import { COUNT, UNAVAILABLE } from './recoveries.js';

const SINCE = {
  ...TIME,
  description: 'Deliveries of events that were published at this time (ISO 8601) or later.',
} as const;

const UNTIL = {
  ...TIME,
  description: 'Deliveries of events that were published before this time. By default, the time of the request.',
} as const;

const INCLUDE = {
  type: 'array',
  minItems: 1,
  items: { enum: RECOVERABLE },
  description:
    '`exhausted`: given up after failed attempts. `held`: given up because the service had deactivated the webhook. `retrying`: waiting for the next attempt. `missed`: of events that were never sent to the webhook, because the account had deactivated it or had not yet registered it; each gets all attempts. By default, all but `missed`.',
} as const;

interface Span {
  /** ms since the epoch; since is inclusive, until is exclusive. */
  readonly since: number;
  readonly until: number;
  readonly include: readonly Recoverable[];
}

interface Given {
  readonly since?: unknown;
  readonly until?: unknown;
  readonly include?: readonly string[] | undefined;
}

/** @throws ApiError 400 that names every wrong field */
function checkedSpan({ since, until, include = UNDELIVERED }: Given, now: number): Span {
  const problems: FieldError[] = [];
  const time = (field: string, given: unknown) => {
    const ms = typeof given === 'string' ? timeOf(given) : null;
    if (ms === null) problems.push(fieldError(field, 'must be a time like 2026-11-21T09:00:00Z'));
    return ms ?? 0;
  };
  if (since === undefined) problems.push(fieldError('since', 'is missing'));
  const from = since === undefined ? 0 : time('since', since);
  const to = until === undefined ? now : time('until', until);
  if (problems.length === 0 && until !== undefined && to <= from) {
    problems.push(fieldError('until', 'must be later than since'));
  }
  const wanted = RECOVERABLE.filter((kind) => include.includes(kind));
  if (wanted.length === 0 || include.some((one) => !wanted.some((kind) => kind === one))) {
    problems.push(fieldError('include', `must be one or more of ${RECOVERABLE.join(', ')}`));
  }
  if (problems.length > 0) throw badRequest(problems);
  // What is published after the request goes its usual way.
  return { since: from, until: Math.min(to, now), include: wanted };
}

const PER_SECOND = 20;

const PREVIEW_RECOVERY: Operation = {
  id: 'previewRecovery',
  ...READ,
  path: '/api/webhooks/{id}/recover',
  tag: 'Deliveries',
  summary: 'Preview a recovery',
  description: 'Counts the deliveries of a webhook that a recovery would send again now. Sends nothing.',
  parameters: [
    WEBHOOK_ID,
    { ...queried('since', SINCE.description, SINCE), required: true },
    queried('until', UNTIL.description, UNTIL),
    queried('include', `Separated by commas. ${INCLUDE.description}`, { type: 'string' }),
  ],
  responses: {
    200: {
      description: 'What a recovery would send.',
      schema: {
        title: 'RecoveryPreview',
        description: 'What a recovery would send.',
        type: 'object',
        required: ['count', 'oldest', 'newest'],
        properties: {
          count: { type: 'integer', minimum: 0, description: 'The number of deliveries.' },
          oldest: { ...TIME_OR_NULL, description: 'When the first of their events was published. Null without any.' },
          newest: { ...TIME_OR_NULL, description: 'When the last of their events was published. Null without any.' },
        },
      },
    },
    400: refusal('A query parameter is not valid.'),
    404: WEBHOOK_NOT_FOUND,
    503: UNAVAILABLE,
  },
};

const REQUEST = {
  since: SINCE,
  until: UNTIL,
  include: INCLUDE,
  perSecond: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: PER_SECOND,
    description: 'How many deliveries are sent in a second, at most. All recoveries of an account share 100.',
  },
} as const;

const ofOne = {
  title: 'RecoveryRequest',
  description: 'Which deliveries are sent again, and how fast.',
  type: 'object',
  required: ['since'],
  properties: REQUEST,
} as const;

const WEBHOOK_IDS = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_WEBHOOKS,
  uniqueItems: true,
  items: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  description: 'The webhooks whose deliveries are sent again.',
} as const;

const ofSeveral = {
  ...ofOne,
  title: 'RecoveriesRequest',
  required: ['webhookIds', ...ofOne.required],
  properties: { webhookIds: WEBHOOK_IDS, ...REQUEST },
} as const;

const SENDS =
  'each once, oldest first, under their `webhook-id`. For those that had ended it is the last attempt; those that wait make their next attempt now instead of later. The recovery goes on if the service restarts. Deliveries that can not be sent, as of a webhook that is inactive by then, are counted in `passedBy` and do not stop it.';

const STARTS: Pick<Operation, 'right' | 'tag' | 'method' | 'responses'> = {
  method: 'post',
  tag: 'Deliveries',
  right: 'configure',
  responses: {
    202: {
      description: 'The recovery runs.',
      schema: {
        title: 'StartedRecovery',
        description: 'A recovery that runs.',
        type: 'object',
        required: ['success', 'message', 'id', 'count'],
        properties: {
          success: { const: true, description: 'Always true.' },
          message: { type: 'string', description: 'A human-readable summary of what was done.' },
          id: { type: 'string', description: 'The id of the recovery.' },
          count: COUNT,
        },
      },
      links: {
        showRecovery: {
          operationId: 'showRecovery',
          description: 'The progress of the recovery.',
          parameters: { id: '$response.body#/id' },
        },
      },
    },
    400: refusal('A field of the body is not valid.'),
    404: WEBHOOK_NOT_FOUND,
    409: refusal('A webhook is being recovered, or is inactive. `message` says which.'),
    429: TOO_MUCH,
    503: UNAVAILABLE,
  },
};

const START_RECOVERY: Operation = {
  id: 'startRecovery',
  ...WRITE,
  ...STARTS,
  path: '/api/webhooks/{id}/recover',
  summary: 'Start a recovery',
  description: `Sends deliveries of a webhook again, ${SENDS}`,
  parameters: [WEBHOOK_ID],
  body: { type: 'json', schema: ofOne },
};

const START_RECOVERIES: Operation = {
  id: 'startRecoveryOfSeveral',
  ...WRITE,
  ...STARTS,
  path: '/api/recoveries',
  summary: 'Start a recovery of several webhooks',
  description: `Sends deliveries of these webhooks again, in one order, at one pace, with one stop; ${SENDS}`,
  body: { type: 'json', schema: ofSeveral },
};

export function previewRecovery(ownWebhook: OwnWebhook, view: AskView, reading: Reading, now: () => Date): Route {
  return readRoute(PREVIEW_RECOVERY, reading, async (accountId, ctx) => {
    const { include } = ctx.query;
    const kinds = typeof include === 'string' ? include.split(',') : include;
    const span = checkedSpan({ ...ctx.query, include: kinds }, now().getTime());
    const { webhook } = await ownWebhook(ctx);
    const found = await viewAnswer(view, accountId, (sound) => recoverable(sound, [webhook], span));
    return () => ({ count: found.count, oldest: timeText(found.oldest), newest: timeText(found.newest) });
  });
}

export interface StartRecoveryParts {
  readonly accounts: Pick<Accounts, 'webhooksNow'>;
  readonly view: AskView;
  readonly handleCommand: HandleCommand;
  readonly newRequestId: () => string;
  readonly now: () => Date;
}

interface StartRecoveryBody extends Omit<Partial<Span>, 'since' | 'until'> {
  readonly since: string;
  readonly until?: string;
  readonly perSecond?: number;
}

interface OfSeveral extends StartRecoveryBody {
  readonly webhookIds: readonly number[];
}

const checkedOfOne = bodyCheck<StartRecoveryBody>(ofOne);
const checkedOfSeveral = bodyCheck<OfSeveral>(ofSeveral);

export function startRecovery(parts: StartRecoveryParts, { reads }: Reading): Route {
  return route(START_RECOVERY, (ctx) => {
    const body = checkedOfOne(ctx.request.body);
    return start(ctx, parts, reads, { ...body, webhookIds: [webhookIdOf(ctx)] });
  });
}

export function startRecoveryOfSeveral(parts: StartRecoveryParts, { reads }: Reading): Route {
  return route(START_RECOVERIES, (ctx) => start(ctx, parts, reads, checkedOfSeveral(ctx.request.body)));
}

async function start(ctx: Context, parts: StartRecoveryParts, reads: ReadLimit, body: OfSeveral): Promise<void> {
  const { accounts, view, handleCommand, newRequestId } = parts;
  const { perSecond = PER_SECOND, webhookIds, ...given } = body;
  const now = parts.now();
  const span = checkedSpan(given, now.getTime());
  const { accountId, actor } = callerOf(ctx);
  const recoveryId = newRequestId();
  const known = (await accounts.webhooksNow(accountId))?.webhooks ?? [];
  const webhooks = known.filter(({ id }) => webhookIds.includes(id));
  await reads.turn(accountId);
  const { count } = await viewAnswer(view, accountId, (sound) => recoverable(sound, webhooks, span));
  const times = { since: timeText(span.since), until: timeText(span.until), at: now.toISOString() };
  const about = { recoveryId, webhookIds, include: span.include, perSecond, count, actor };
  const command = { type: 'StartRecovery', ...about, ...times } as const;
  mustBeAccepted(await handleCommand(accountId, command, commandContext(ctx, actor)));
  ctx.status = 202;
  ctx.body = { success: true, message: `${count} deliveries are sent again`, id: recoveryId, count };
}

async function recoverable(
  view: AccountView,
  webhooks: readonly Webhook[],
  { include, ...period }: Span,
): Promise<RecoverableCount> {
  const undelivered = UNDELIVERED.filter((kind) => include.includes(kind));
  const webhookIds = webhooks.map(({ id }) => id);
  const known = await view.recoverableCount({ webhookIds, include: undelivered, ...period });
  return include.includes('missed') ? sum(known, await view.missedCount({ webhooks, ...period })) : known;
}

function sum(one: RecoverableCount, other: RecoverableCount): RecoverableCount {
  const times = [one, other].flatMap(({ oldest, newest }) => [oldest ?? [], newest ?? []].flat());
  const [oldest, newest] = times.length === 0 ? [null, null] : [Math.min(...times), Math.max(...times)];
  return { count: one.count + other.count, oldest, newest };
}
