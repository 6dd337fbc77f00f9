/** GET /api/webhooks/health: how each webhook of an account fares. */
import { shownFailure } from '../../endpoints/failure.js';
import type { MinuteAttempts, WebhookHealth } from '../../ports/deliveries-view.js';
import { count, list, object, oneOf, orNull, share, textOrNull, timeOrNull, whole } from '../../schema.js';
import type { FailingEndpoint, Webhook } from '../../webhooks/state.js';
import { registered } from '../api-error.js';
import { read, viewAnswer } from '../read-answer.js';
import { LAST_FAILURE, timeText } from '../shared-schemas.js';

const HEALTH = object('WebhookHealth', 'How a webhook fares.', {
  webhookId: whole('The id of the webhook.'),
  state: oneOf(
    ['healthy', 'unsteady', 'failing', 'off', 'untried'],
    '`unsteady`: some attempts of the last 10 minutes failed. `failing`: for 10 minutes all of them did, or nothing else of the account was accepted by this URL. `off`: the webhook is not active. `untried`: no attempt is known, or none but failures before it was last activated, or none since it got its URL. `healthy`: anything else.',
  ),
  failedShare: orNull(share('The share of the attempts of the last 10 minutes that failed. Null if there were none.')),
  since: timeOrNull(
    'When the state began: the first failure after the last success, the deactivation, or the registration, activation or change of URL of an untried webhook. Failures before an activation do not count, nor does anything before a change of URL. Null if the last attempt succeeded.',
  ),
  offBy: orNull(oneOf(['account', 'service'], 'Who deactivated the webhook.')),
  reason: textOrNull('Why the webhook was deactivated.'),
  deactivatesAt: timeOrNull('When the service deactivates the failing webhook, at the earliest. Null: never.'),
  lastSuccessAt: timeOrNull('When the last successful attempt began.'),
  lastFailure: LAST_FAILURE,
  waiting: count(
    'How many deliveries wait for another attempt. New ones that have not been attempted or deferred yet are not counted.',
  ),
  held: count('How many deliveries are held, since the service had deactivated the webhook.'),
  exhausted: count('How many deliveries were given up after their last attempt. A recovery sends them.'),
});

export const showWebhooksHealth = read({
  id: 'showWebhooksHealth',
  path: '/api/webhooks/health',
  description:
    'Returns how each webhook of the account fares, in the order of their creation. Attempts count as far back as the list of deliveries goes, and appear here shortly after they were made.',
  returns: object('WebhooksHealth', 'How the webhooks of an account fare.', {
    webhooks: list('All webhooks of the account.', HEALTH),
  }),
}).answer(async ({ accounts, view, now, deactivateAfterMs }, { accountId, requester }) => {
  const found = registered(await accounts.webhooks(accountId));
  const recently = now().getTime() - RECENT_MS;
  const [health, attempts] = await viewAnswer(view, requester, (sound) =>
    Promise.all([sound.health(), sound.attempts(recently)]),
  );
  const shown = (webhook: Webhook) => {
    const noted = found.failing.find(({ endpoint }) => endpoint === webhook.endpoint);
    const known = ofItsUrl(webhook, health.get(webhook.id) ?? UNTRIED);
    const failedShare = failedShareOf(webhook, attempts);
    return shownHealth(webhook, { ...known, failedShare, recently }, noted, deactivateAfterMs);
  };
  return () => ({ webhooks: found.webhooks.map(shown) });
});

export const UNTRIED: WebhookHealth = {
  lastSuccessAt: null,
  lastFailure: null,
  failingSince: null,
  waiting: 0,
  held: 0,
  exhausted: 0,
};

const RECENT_MS = 10 * 60_000;
const MINUTE_MS = 60_000;

/** What an earlier URL answered says nothing of the one that it has. */
function ofItsUrl({ movedAt }: Webhook, health: WebhookHealth): WebhookHealth {
  const from = movedAt ? Date.parse(movedAt) : 0;
  const lastSuccessAt = (health.lastSuccessAt ?? 0) < from ? null : health.lastSuccessAt;
  const lastFailure = (health.lastFailure?.at ?? 0) < from ? null : health.lastFailure;
  return { ...health, lastSuccessAt, lastFailure };
}

function failedShareOf(webhook: Webhook, attempts: readonly MinuteAttempts[]): number | null {
  const from = Date.parse(begunAt(webhook)) - MINUTE_MS;
  let [made, failed] = [0, 0];
  for (const minute of attempts) {
    if (minute.webhookId !== webhook.id || minute.at <= from) continue;
    made += minute.made;
    failed += minute.failed;
  }
  return made > 0 ? failed / made : null;
}

/** Failures before it count no more, as for the service's own clock of a failing URL. */
function begunAt({ createdAt, activatedAt = createdAt, movedAt = createdAt }: Webhook): string {
  return movedAt > activatedAt ? movedAt : activatedAt;
}

interface KnownHealth extends WebhookHealth {
  readonly failedShare: number | null;
  /** ms since the epoch: where the last 10 minutes begin. */
  readonly recently: number;
}

function shownHealth(webhook: Webhook, health: KnownHealth, noted: FailingEndpoint | undefined, afterMs: number) {
  const { lastSuccessAt, lastFailure, failedShare, waiting, held, exhausted } = health;
  return {
    webhookId: webhook.id,
    ...(webhook.isActive ? on(webhook, health, noted, afterMs) : off(webhook)),
    failedShare,
    lastSuccessAt: timeText(lastSuccessAt),
    lastFailure: lastFailure && { ...shownFailure(lastFailure), at: timeText(lastFailure.at) },
    waiting,
    held,
    exhausted,
  };
}

function off({ offBy: by, offAt, offReason }: Webhook) {
  return { state: 'off', since: offAt ?? null, offBy: by ?? 'account', reason: offReason ?? null, deactivatesAt: null };
}

/** @param noted of the webhook's URL, which it may share with webhooks of other types */
function on(webhook: Webhook, health: KnownHealth, noted: FailingEndpoint | undefined, afterMs: number) {
  const { state, since } = stateOf(webhook, health, noted);
  const failingSince = state === 'failing' ? Date.parse(noted?.since ?? since ?? '') : Number.NaN;
  const announced = Date.parse(noted?.deactivatesAt ?? '') || 0;
  const deactivatesAt = afterMs > 0 && failingSince >= 0 ? timeText(Math.max(failingSince + afterMs, announced)) : null;
  return { state, since, offBy: null, reason: null, deactivatesAt };
}

function stateOf(
  webhook: Webhook,
  { failingSince, failedShare, recently, lastSuccessAt, lastFailure }: KnownHealth,
  noted: FailingEndpoint | undefined,
): { readonly state: string; readonly since: string | null } {
  const begun = begunAt(webhook);
  const from = Date.parse(begun);
  if (failingSince !== null && (lastFailure?.at ?? 0) >= from) {
    const since = Math.max(failingSince, from);
    return { state: noted || since <= recently ? 'failing' : 'unsteady', since: timeText(since) };
  }
  if (noted) return { state: 'failing', since: noted.since };
  if (failingSince !== null || lastSuccessAt === null) return { state: 'untried', since: begun };
  return { state: failedShare ? 'unsteady' : 'healthy', since: null };
}
