/** GET /api/stats: an account's deliveries over time. */
import { STATS_STEPS_MS, type StatsBucket, type StatsQuery, type StatsStep } from '../ports/deliveries-view.js';
import { count, list, milliseconds, object, oneOf, orNull, time, timeOrNull } from '../schema.js';
import { badRequest, fieldError, registered } from './api-error.js';
import { type AskedQuery, choiceQuery, eventTypeQuery, timeQuery, webhookIdQuery } from './query.js';
import { read, viewAnswer } from './read-answer.js';
import { timeText } from './shared-schemas.js';

const STEPS = Object.keys(STATS_STEPS_MS) as StatsStep[];
const DAY_MS = 86_400_000;
/** Of an account with 21 active webhooks this takes 60 to 110 ms of the thread of the view, in slices. */
const MOST_BUCKETS = 1_440;
const MINUTES_KEPT_MS = 2 * DAY_MS;

const BUCKET = object('StatsBucket', 'What happened in one step.', {
  at: time('The start of the step, in UTC.'),
  delivered: count('Successful attempts.'),
  failedAttempts: count('Failed attempts, whatever followed.'),
  exhausted: count('Deliveries that were given up, without the held ones.'),
  cancelled: count('Deliveries that were cancelled.'),
  held: count('Deliveries that are held, since the service had deactivated their webhook.'),
  p50Ms: orNull(milliseconds('The median duration of the successful attempts, in ms, to within a fifth.')),
  p95Ms: orNull(milliseconds('The 95th percentile of the same.')),
});

const STEP = choiceQuery(STEPS, 'The length of a step.', { type: 'string', enum: STEPS, default: '1h' });

const QUERY = {
  step: { ...STEP, absent: '1h' as const },
  from: timeQuery('The time in the first step (ISO 8601). Default: 24 hours before the end of the last step.'),
  to: timeQuery('The end (ISO 8601): the last step is the one that this time is in or ends. Default: now.'),
  webhookId: webhookIdQuery('Only deliveries to this webhook.'),
  eventType: eventTypeQuery('Only deliveries of events of this type.'),
};

export const showStats = read({
  id: 'showStats',
  path: '/api/stats',
  description: `Counts attempts in the step in which they began, and deliveries that ended without success in the step in which they ended. Steps without anything are included, with zeros. At most ${MOST_BUCKETS.toLocaleString('en')} steps are returned. Minutes are kept for two days, hours for as long as deliveries are listed; \`dataSince\` says since when.`,
  query: QUERY,
  returns: object('Stats', 'The statistics. An attempt appears here shortly after it was made.', {
    step: oneOf(STEPS, 'A minute or an hour, in UTC.', { title: 'StatsStep' }),
    dataSince: timeOrNull('Nothing is counted before this time. Null if nothing was counted yet.'),
    buckets: list('One for each step, oldest first, from `dataSince` on.', BUCKET),
  }),
}).answer(async ({ accounts, view, now }, { accountId, query: asked, requester }) => {
  const at = now().getTime();
  const query = statsQuery(asked, at);
  registered(await accounts.webhooks(accountId));
  const [since, found] = await viewAnswer(view, requester, (sound) =>
    Promise.all([sound.dataSince(), sound.stats(query)]),
  );
  return () => answer(query, keptSince(since, query.step, at), found);
});

/** @throws ApiError 400 */
function statsQuery(asked: AskedQuery<typeof QUERY>, now: number): StatsQuery {
  const ms = STATS_STEPS_MS[asked.step];
  const to = Math.ceil(Math.min(asked.to ?? now, now) / ms) * ms;
  const from = Math.floor((asked.from ?? to - DAY_MS) / ms) * ms;
  if ((to - from) / ms <= MOST_BUCKETS) return { ...asked, from, to };
  throw badRequest([fieldError('from', { code: 'too-many-steps', params: { limit: MOST_BUCKETS } })]);
}

function keptSince(since: number | null, step: StatsStep, now: number): number | null {
  return since !== null && step === '1m' ? Math.max(since, now - MINUTES_KEPT_MS) : since;
}

function answer(query: StatsQuery, since: number | null, buckets: readonly StatsBucket[]) {
  const { step, to } = query;
  const ms = STATS_STEPS_MS[step];
  const from = since === null ? to : Math.max(query.from, Math.floor(since / ms) * ms);
  const found = new Map(buckets.map((bucket) => [bucket.at, bucket]));
  const starts = Array.from({ length: Math.max(0, (to - from) / ms) }, (_, index) => from + index * ms);
  const shown = starts.map((at) => ({ ...(found.get(at) ?? NOTHING), at: timeText(at) }));
  return { step, dataSince: timeText(since), buckets: shown };
}

const NOTHING = {
  delivered: 0,
  failedAttempts: 0,
  exhausted: 0,
  cancelled: 0,
  held: 0,
  p50Ms: null,
  p95Ms: null,
};
