/** GET and POST /api/webhooks/{id}/recover, and POST /api/recoveries: what a recovery would send, and its start. */
import type { Context } from 'koa';
import {
  type AccountView,
  RECOVERABLE,
  type Recoverable,
  type RecoverableCount,
  UNDELIVERED,
} from '../../ports/deliveries-view.js';
import { MAX_WEBHOOKS } from '../../webhooks/limits.js';
import type { Webhook } from '../../webhooks/state.js';
import { badRequest, type FieldError, fieldError } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { bodyCheck } from '../body.js';
import { read, route, WEBHOOK_ID, write } from '../operation.js';
import { noneOf, parameter, textQuery, timeOf } from '../query.js';
import { readRoute, viewAnswer } from '../read-answer.js';
import { callerOf } from '../request-context.js';
import { count, list, object, optional, type Schema, type Static, text, time, timeOrNull, whole } from '../schema.js';
import { DONE, timeText } from '../shared-schemas.js';
import { commanded, ownWebhook, webhookIdOf } from '../webhooks/webhook-command.js';
import { COUNT, KIND } from './recoveries.js';

const SINCE = time('Deliveries of events that were published at this time (ISO 8601) or later.');
const UNTIL = time('Deliveries of events that were published before this time. By default, the time of the request.');
const INCLUDE =
  '`exhausted`: given up after failed attempts. `held`: given up because the service had deactivated the webhook. `retrying`: waiting for the next attempt. `missed`: of events that were never sent to the webhook, because the account had deactivated it or had not yet registered it; each gets all attempts. By default, all but `missed`.';

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
  const msOf = (field: string, given: unknown) => {
    const ms = typeof given === 'string' ? timeOf(given) : null;
    if (ms === null) problems.push(fieldError(field, { code: 'not-a-time' }));
    return ms ?? 0;
  };
  if (since === undefined) problems.push(fieldError('since', { code: 'missing' }));
  const from = since === undefined ? 0 : msOf('since', since);
  const to = until === undefined ? now : msOf('until', until);
  if (problems.length === 0 && until !== undefined && to <= from) {
    problems.push(fieldError('until', { code: 'not-later-than', params: { other: 'since' } }));
  }
  const wanted = RECOVERABLE.filter((kind) => include.includes(kind));
  if (wanted.length === 0 || include.some((one) => !wanted.some((kind) => kind === one))) {
    problems.push(fieldError('include', noneOf(RECOVERABLE)));
  }
  if (problems.length > 0) throw badRequest(problems);
  // What is published after the request goes its usual way.
  return { since: from, until: Math.min(to, now), include: wanted };
}

const PER_SECOND = 20;

/** checkedSpan reads it, as it reads a body. */
const asGiven = (schema: Schema<string>) =>
  parameter(String(schema.description), schema, (given) => given, { code: 'given-twice' });

const PREVIEW_RECOVERY = read({
  id: 'previewRecovery',
  path: '/api/webhooks/{id}/recover',
  summary: 'Preview a recovery',
  description: 'Counts the deliveries of a webhook that a recovery would send again now. Sends nothing.',
  pathId: WEBHOOK_ID,
  query: {
    since: { ...asGiven(SINCE), required: true },
    until: asGiven(UNTIL),
    include: textQuery(`Separated by commas. ${INCLUDE}`),
  },
  responses: {
    200: object('RecoveryPreview', 'What a recovery would send.', {
      count: count('The number of deliveries.'),
      oldest: timeOrNull('When the first of their events was published. Null without any.'),
      newest: timeOrNull('When the last of their events was published. Null without any.'),
    }),
  },
});

const REQUEST = {
  since: SINCE,
  until: optional(UNTIL),
  include: optional(list(INCLUDE, KIND, { minItems: 1 })),
  perSecond: optional(
    whole('How many deliveries are sent in a second, at most. All recoveries of an account share 100.', {
      minimum: 1,
      maximum: 100,
      default: PER_SECOND,
    }),
  ),
};

const OF_ONE = object('RecoveryRequest', 'Which deliveries are sent again, and how fast.', REQUEST);

const ID: Schema<number> = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
const OF_SEVERAL = object('RecoveriesRequest', 'Which deliveries are sent again, and how fast.', {
  webhookIds: list('The webhooks whose deliveries are sent again.', ID, {
    minItems: 1,
    maxItems: MAX_WEBHOOKS,
    uniqueItems: true,
  }),
  ...REQUEST,
});

const SENDS =
  'each once, oldest first, under their `webhook-id`. For those that had ended it is the last attempt; those that wait make their next attempt now instead of later. The recovery goes on if the service restarts. Deliveries that can not be sent, as of a webhook that is inactive by then, are counted in `passedBy` and do not stop it.';

const STARTS = {
  method: 'post',
  right: 'configure',
  responses: {
    202: object('StartedRecovery', 'A recovery that runs.', {
      ...DONE,
      id: text('The id of the recovery.'),
      count: COUNT,
    }),
    404: 'The account has no webhook with this id, or the account is not registered.',
    409: 'A webhook is being recovered, or is inactive. `message` says which.',
  },
} as const;

const START_RECOVERY = write({
  id: 'startRecovery',
  ...STARTS,
  path: '/api/webhooks/{id}/recover',
  summary: 'Start a recovery',
  description: `Sends deliveries of a webhook again, ${SENDS}`,
  pathId: WEBHOOK_ID,
  body: { type: 'json', schema: OF_ONE },
});

const START_RECOVERIES = write({
  id: 'startRecoveryOfSeveral',
  ...STARTS,
  path: '/api/recoveries',
  summary: 'Start a recovery of several webhooks',
  description: `Sends deliveries of these webhooks again, in one order, at one pace, with one stop; ${SENDS}`,
  body: { type: 'json', schema: OF_SEVERAL },
});

export function previewRecovery(parts: ApiParts) {
  return readRoute(PREVIEW_RECOVERY, parts.admission, async (accountId, ctx) => {
    const { include } = ctx.query;
    const kinds = typeof include === 'string' ? include.split(',') : include;
    const span = checkedSpan({ ...ctx.query, include: kinds }, parts.now().getTime());
    const webhook = await ownWebhook(ctx, parts);
    const found = await viewAnswer(parts.view, accountId, (sound) => recoverable(sound, [webhook], span));
    return () => ({ count: found.count, oldest: timeText(found.oldest), newest: timeText(found.newest) });
  });
}

const checkedOfOne = bodyCheck(OF_ONE);
const checkedOfSeveral = bodyCheck(OF_SEVERAL);

export function startRecovery(parts: ApiParts) {
  return route(START_RECOVERY, (ctx) => {
    const body = checkedOfOne(ctx.request.body);
    return start(ctx, parts, { ...body, webhookIds: [webhookIdOf(ctx)] });
  });
}

export function startRecoveryOfSeveral(parts: ApiParts) {
  return route(START_RECOVERIES, (ctx) => start(ctx, parts, checkedOfSeveral(ctx.request.body)));
}

async function start(ctx: Context, parts: ApiParts, body: Static<typeof OF_SEVERAL>): Promise<void> {
  const { accounts, view, admission, newRequestId } = parts;
  const { perSecond = PER_SECOND, webhookIds, ...given } = body;
  const now = parts.now();
  const span = checkedSpan(given, now.getTime());
  const { accountId, actor } = callerOf(ctx);
  const recoveryId = newRequestId();
  const known = (await accounts.webhooksNow(accountId))?.webhooks ?? [];
  const webhooks = known.filter(({ id }) => webhookIds.includes(id));
  await admission.turn(accountId);
  const found = await viewAnswer(view, accountId, (sound) => recoverable(sound, webhooks, span));
  const times = { since: timeText(span.since), until: timeText(span.until), at: now.toISOString() };
  const about = { recoveryId, webhookIds, include: span.include, perSecond, count: found.count, actor };
  await commanded(ctx, parts, { type: 'StartRecovery', ...about, ...times });
  ctx.status = 202;
  ctx.body = { success: true, message: `${found.count} deliveries are sent again`, id: recoveryId, count: found.count };
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
