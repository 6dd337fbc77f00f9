import type { Requester } from '../../limits/user-limits.js';
import { RECOVERABLE, type Recoverable, type RecoverableCount, UNDELIVERED } from '../../ports/deliveries-view.js';
import {
  count,
  list,
  object,
  optional,
  type Schema,
  type Static,
  text,
  time,
  timeOrNull,
  whole,
} from '../../schema.js';
import { readTime } from '../../time/iso-time.js';
import { MAX_WEBHOOKS } from '../../webhooks/limits.js';
import type { Webhook } from '../../webhooks/state.js';
import { badRequest, fieldError } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { COMPLETE_SINCE } from '../deliveries/delivery-page.js';
import type { Commanded } from '../operation.js';
import { write } from '../operation.js';
import { noneOf, parameter, required, timeQuery } from '../query.js';
import { read, viewAnswer } from '../read-answer.js';
import { DONE, timeText } from '../shared-schemas.js';
import { commanded, ownWebhook, webhookIdOf } from '../webhooks/webhook-command.js';
import { COUNT, KIND } from './recoveries.js';

const SINCE = 'Deliveries of events that were published at this time (ISO 8601) or later.';
const UNTIL = 'Deliveries of events that were published before this time. By default, the time of the request.';
const INCLUDE =
  '`exhausted`: given up after failed attempts. `held`: given up because the service had deactivated the webhook. `retrying`: waiting for the next attempt. `missed`: of events that the service still has and never sent to the webhook, because the account had deactivated it or had not yet registered it; each gets all attempts. By default, all but `missed`.';

interface Span {
  /** ms since the epoch; since is inclusive, until is exclusive. */
  readonly since: number;
  readonly until: number;
  readonly include: readonly Recoverable[];
}

type Given = Pick<Span, 'since'> & { readonly [K in 'until' | 'include']: Span[K] | null };

/** What is published after the request goes its usual way. @throws ApiError 400 */
function spanOf({ since, until, include }: Given, now: number): Span {
  if (until !== null && until <= since) {
    throw badRequest([fieldError('until', { code: 'not-later-than', params: { other: 'since' } })]);
  }
  const wanted = RECOVERABLE.filter((kind) => (include ?? UNDELIVERED).includes(kind));
  return { since, until: Math.min(until ?? now, now), include: wanted };
}

const PER_SECOND = 20;
const ANY_KIND = `(${RECOVERABLE.join('|')})`;
const KINDS: Schema<string> = { type: 'string', pattern: `^${ANY_KIND}(,${ANY_KIND})*$` };

export const previewRecovery = read({
  id: 'previewRecovery',
  path: '/api/webhooks/{id}/recover',
  description: 'Counts the deliveries of a webhook that a recovery would send again now. Sends nothing.',
  query: {
    since: required(timeQuery(SINCE)),
    until: timeQuery(UNTIL),
    include: parameter(`Separated by commas. ${INCLUDE}`, KINDS, kindsIn, noneOf(RECOVERABLE)),
  },
  returns: object('RecoveryPreview', 'What a recovery would send.', {
    count: count('The number of deliveries.'),
    oldest: timeOrNull('When the first of their events was published. Null without any.'),
    newest: timeOrNull('When the last of their events was published. Null without any.'),
    completeSince: COMPLETE_SINCE,
  }),
}).answer(async (parts, { requester, ctx, query }) => {
  const span = spanOf(query, parts.now().getTime());
  const webhook = await ownWebhook(ctx, parts);
  const { count, oldest, newest, completeSince } = await recoverable(parts, requester, [webhook], span);
  const times = { oldest: timeText(oldest), newest: timeText(newest), completeSince: timeText(completeSince) };
  return () => ({ count, ...times });
});

/** Null if one of them is none. */
function kindsIn(text: string): readonly Recoverable[] | null {
  const kinds = text.split(',').map((each) => RECOVERABLE.find((kind) => kind === each));
  return kinds.every((kind) => kind !== undefined) ? kinds : null;
}

const REQUEST = {
  since: time(SINCE),
  until: optional(time(UNTIL)),
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
  returns: object('StartedRecovery', 'A recovery that runs.', {
    ...DONE,
    id: text('The id of the recovery.'),
    count: COUNT,
  }),
  status: 202,
  refusals: {
    404: 'The account has no webhook with this id, or the account is not registered.',
    409: 'A webhook is being recovered, or is inactive. `message` says which.',
  },
} as const;

export const startRecovery = write({
  id: 'startRecovery',
  ...STARTS,
  path: '/api/webhooks/{id}/recover',
  description: `Sends deliveries of a webhook again, ${SENDS}`,
  body: { type: 'json', schema: OF_ONE },
}).answer((parts, asked) => started(parts, asked, { ...asked.body, webhookIds: [webhookIdOf(asked.ctx)] }));

export const startRecoveryOfSeveral = write({
  id: 'startRecoveryOfSeveral',
  ...STARTS,
  path: '/api/recoveries',
  description: `Sends deliveries of these webhooks again, in one order, at one pace, with one stop; ${SENDS}`,
  body: { type: 'json', schema: OF_SEVERAL },
}).answer((parts, asked) => started(parts, asked, asked.body));

async function started(parts: ApiParts, asked: Commanded, body: Static<typeof OF_SEVERAL>) {
  const { accounts, admission, newRequestId } = parts;
  const { accountId, at, context } = asked;
  const { perSecond = PER_SECOND, webhookIds, since, until = null, include = null } = body;
  const given = { since: readTime(since) ?? 0, until: until === null ? null : readTime(until), include };
  const span = spanOf(given, Date.parse(at));
  const recoveryId = newRequestId();
  const known = (await accounts.webhooksNow(accountId))?.webhooks ?? [];
  const webhooks = known.filter(({ id }) => webhookIds.includes(id));
  // An exact count may take the view seconds.
  const { count } = await admission.during(asked.ctx, (_, requester) => recoverable(parts, requester, webhooks, span));
  const times = { since: timeText(span.since), until: timeText(span.until), at };
  const about = { recoveryId, webhookIds, include: span.include, perSecond, count, actor: context.actor };
  await commanded(parts, asked, { type: 'StartRecovery', ...about, ...times });
  return { success: true, message: `${count} deliveries are sent again`, id: recoveryId, count };
}

async function recoverable(
  { view, payloads }: ApiParts,
  requester: Requester,
  webhooks: readonly Webhook[],
  { include, ...period }: Span,
) {
  const undelivered = UNDELIVERED.filter((kind) => include.includes(kind));
  const webhookIds = webhooks.map(({ id }) => id);
  const firstKept = include.includes('missed') && (await payloads.firstKept());
  return viewAnswer(view, requester, async (sound) => {
    const known = await sound.recoverableCount({ webhookIds, include: undelivered, ...period });
    if (!firstKept) return { ...known, completeSince: null };
    const { completeSince, ...missed } = await sound.missedCount({ webhooks, ...period }, firstKept);
    return { ...sum(known, missed), completeSince };
  });
}

function sum(one: RecoverableCount, other: RecoverableCount): RecoverableCount {
  const times = [one, other].flatMap(({ oldest, newest }) => [oldest ?? [], newest ?? []].flat());
  const [oldest, newest] = times.length === 0 ? [null, null] : [Math.min(...times), Math.max(...times)];
  return { count: one.count + other.count, oldest, newest };
}
