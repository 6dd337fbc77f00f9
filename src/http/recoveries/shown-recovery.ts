/** A recovery as the API shows it. */
import { type AskView, RECOVERABLE } from '../../ports/deliveries-view.js';
import type { Recovery } from '../../webhooks/state.js';
import { viewAnswer } from '../read-answer.js';
import { TIME } from '../shared-schemas.js';

const whole = (description: string) => ({ type: 'integer', minimum: 0, description });

export const COUNT = whole('The number of deliveries when the recovery started.');

const RECOVERY = {
  id: { type: 'string', description: 'The id of the recovery.' },
  webhookId: { type: 'integer', description: 'The webhook whose deliveries are sent again.' },
  state: {
    enum: ['running', 'done', 'stopped'],
    description:
      '`done`: everything was sent; the last attempts may still be under way. `stopped`: by the account, or because the webhook became inactive.',
  },
  startedAt: { ...TIME, description: 'When it was started.' },
  since: { ...TIME, description: 'It sends deliveries of events that were published at this time or later.' },
  until: { ...TIME, description: 'And before this time.' },
  include: { type: 'array', items: { enum: RECOVERABLE }, description: 'The kinds of deliveries that it sends.' },
  perSecond: whole('How many deliveries it sends in a second, at most.'),
  count: COUNT,
  sent: whole('How many deliveries it has put back for an attempt.'),
  delivered: whole('How many of these were delivered.'),
  failed: whole('How many of these were not delivered and have no further attempt.'),
} as const;

export const RECOVERY_SCHEMA = {
  title: 'Recovery',
  description: 'A recovery and its progress.',
  type: 'object',
  required: Object.keys(RECOVERY),
  properties: RECOVERY,
} as const;

/** @throws ApiError 503 if there is no view now */
export function shownRecovery(accountId: number, { startedAt, ...recovery }: Recovery, view: AskView) {
  const { id, webhookId, state, since, until, include, perSecond, count } = recovery;
  const { sent, delivered, failed } = viewAnswer(view, (known) => known.recovery(accountId, id));
  const request = { since, until, include, perSecond, count };
  return { id, webhookId, state, startedAt, ...request, sent, delivered, failed };
}
