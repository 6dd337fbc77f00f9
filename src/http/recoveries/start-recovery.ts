import type { AskView, RecoverableCount, RecoverableQuery } from '../../ports/deliveries-view.js';
import type { RecoveryOrder } from '../../ports/send-again.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import { bodyCheck } from '../body.js';
import { queried } from '../deliveries/delivery-page.js';
import {
  type Operation,
  READ,
  type Route,
  refusal,
  route,
  TOO_MUCH,
  WEBHOOK_ID,
  WEBHOOK_NOT_FOUND,
} from '../operation.js';
import { type Reading, readRoute, viewAnswer } from '../read-answer.js';
import { callerOf, commandContext } from '../request-context.js';
import type { OwnWebhook } from '../webhooks/own-webhook.js';
import { mustBeAccepted, webhookIdOf } from '../webhooks/webhook-command.js';
import { checkedSpan, INCLUDE, queriedSpan, SINCE, type Span, UNTIL } from './recovery-request.js';
import { COUNT } from './shown-recovery.js';

const PER_SECOND = 20;
const NULLABLE_TIME = { type: ['string', 'null'], format: 'date-time' } as const;
export const UNAVAILABLE = refusal('The service is unavailable. Retry-After says when to try again.');

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
          oldest: { ...NULLABLE_TIME, description: 'When the first of their events was published. Null without any.' },
          newest: { ...NULLABLE_TIME, description: 'When the last of their events was published. Null without any.' },
        },
      },
    },
    400: refusal('A query parameter is not valid.'),
    404: WEBHOOK_NOT_FOUND,
    503: UNAVAILABLE,
  },
};

const bodySchema = {
  title: 'RecoveryRequest',
  description: 'Which deliveries are sent again, and how fast.',
  type: 'object',
  required: ['since'],
  properties: {
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
  },
} as const;

const START_RECOVERY: Operation = {
  id: 'startRecovery',
  method: 'post',
  path: '/api/webhooks/{id}/recover',
  tag: 'Deliveries',
  summary: 'Start a recovery',
  description:
    'Sends deliveries of a webhook again, each once, oldest first, under their `webhook-id`. For those that had ended it is the last attempt; those that wait make their next attempt now instead of later. The recovery goes on if the service restarts. It stops if the webhook becomes inactive. Deliveries whose payload is no longer kept are left out.',
  security: 'bearer',
  right: 'configure',
  rateLimit: 'writes',
  parameters: [WEBHOOK_ID],
  body: { type: 'json', schema: bodySchema },
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
    409: refusal('A recovery of the webhook runs, or the webhook is inactive. `message` says which.'),
    429: TOO_MUCH,
    503: UNAVAILABLE,
  },
};

export function previewRecovery(ownWebhook: OwnWebhook, view: AskView, reading: Reading, now: () => Date): Route {
  return readRoute(PREVIEW_RECOVERY, reading, async (accountId, ctx) => {
    const span = queriedSpan(ctx.query, now().getTime());
    const { webhook } = await ownWebhook(ctx);
    return () => {
      const { count, oldest, newest } = recoverable(view, { accountId, webhookId: webhook.id, ...span });
      return { count, oldest: shownTime(oldest), newest: shownTime(newest) };
    };
  });
}

export interface StartRecoveryParts {
  readonly view: AskView;
  readonly handleCommand: HandleCommand;
  /** Fulfilled once the recovery is durable. @throws BrokerUnavailable */
  readonly orderRecovery: (order: RecoveryOrder) => Promise<void>;
  readonly newRequestId: () => string;
  readonly now: () => Date;
}

interface StartRecoveryBody extends Omit<Partial<Span>, 'since' | 'until'> {
  readonly since: string;
  readonly until?: string;
  readonly perSecond?: number;
}

const checked = bodyCheck<StartRecoveryBody>(bodySchema);

export function startRecovery(
  { view, handleCommand, orderRecovery, ...parts }: StartRecoveryParts,
  { reads }: Reading,
): Route {
  return route(START_RECOVERY, async (ctx) => {
    const { perSecond = PER_SECOND, ...given } = checked(ctx.request.body);
    const now = parts.now();
    const span = checkedSpan(given, now.getTime());
    const { accountId, actor } = callerOf(ctx);
    const about = { webhookId: webhookIdOf(ctx), recoveryId: parts.newRequestId() };
    const [since, until] = [span.since, span.until].map((ms) => new Date(ms).toISOString()) as [string, string];
    const request = { ...about, since, until, include: span.include, perSecond };
    const asked = { type: 'StartRecovery', ...request, at: now.toISOString() } as const;
    await reads.turn(accountId);
    const { count } = reads.timed(accountId, () => recoverable(view, { accountId, ...about, ...span }));
    // The order first: a recovery in the history is sure to run, and an order without one is dropped, after a while.
    const order = once(() => orderRecovery({ id: about.recoveryId, accountId, webhookId: about.webhookId, actor }));
    mustBeAccepted(await handleCommand(accountId, { ...asked, count }, commandContext(ctx, actor), order));
    ctx.status = 202;
    ctx.body = { success: true, message: `${count} deliveries are sent again`, id: about.recoveryId, count };
  });
}

/** A decision is repeated where another process appended first. */
function once(order: () => Promise<void>): () => Promise<void> {
  let ordered: Promise<void> | null = null;
  return () => {
    ordered ??= order();
    return ordered;
  };
}

/** @throws ApiError 503 */
function recoverable(view: AskView, of: Omit<RecoverableQuery, 'recovery'>): RecoverableCount {
  const { accountId, webhookId, since, until, include } = of;
  const query = { accountId, webhookId, since, until, include, recovery: null };
  return viewAnswer(view, (known) => known.recoverableCount(query));
}

function shownTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
