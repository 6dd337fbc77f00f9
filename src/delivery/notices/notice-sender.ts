/**
 * Sends notices to the notice URLs of their accounts, signed and retried like payments: through the same gate, breakers
 * and tiers. A notice is given up after the last delay of the schedule, after a 410, and if its account has no notice
 * URL or no longer the webhook. Notices are neither deliveries nor dead letters: the topic keeps them.
 */
import type { RecordHandler, RecordHold } from '../../ports/broker.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { Webhook } from '../../webhooks/state.js';
import type { AttemptResult } from '../attempt/attempt.js';
import { type SendParts, sendTo, signalOf } from '../attempt/send.js';
import { mustBeOwn } from '../deliver.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import type { EndpointGate } from '../isolation/endpoint-gate.js';
import { placeOf } from '../record-place.js';
import { type Delay, dueAt, stepAfterFailure } from '../retry/retry-schedule.js';
import type { Topics } from '../topics.js';
import { type OutgoingNotice, outgoingNotice, waitingNotice } from './notice.js';

export interface NoticeSenderParts extends SendParts, DurablePublishParts {
  readonly accounts: Pick<Accounts, 'webhooks' | 'webhook' | 'unreadable'>;
  readonly gate: Pick<EndpointGate, 'enter'>;
  readonly topics: Pick<Topics, 'tier'>;
  readonly schedule: readonly Delay[];
  /** ms since the epoch */
  readonly now: () => number;
  readonly random: () => number;
}

/** uncounted: our own stop or stall, after which the same step follows. */
type Sent =
  | { readonly kind: 'done' }
  | { readonly kind: 'uncounted' }
  | { readonly kind: 'failed'; readonly retryAfterMs: number | null };

export function createSendNotice(parts: NoticeSenderParts): RecordHandler {
  return async (record, hold) => {
    const notice = outgoingNotice(record);
    if (!notice) return parts.logger.warn(placeOf(record), 'a record is no notice and is left out');
    const sent = await sentTo(parts, notice, hold);
    if (sent.kind === 'done') return;
    const isCounted = sent.kind === 'failed';
    const step = isCounted ? stepAfterFailure(parts.schedule, notice.step, sent.retryAfterMs) : 0;
    const tier = step === null ? undefined : parts.schedule[step];
    if (step === null || !tier) {
      parts.logger.warn(aboutNotice(notice), 'a notice could not be delivered and is given up');
      return;
    }
    const next = isCounted ? step + 1 : notice.step;
    const waiting = waitingNotice(record, notice, next, dueAt(tier, parts.now(), parts.random));
    await publishUntilDurable(parts, parts.topics.tier(tier), waiting);
  };
}

async function sentTo(parts: NoticeSenderParts, notice: OutgoingNotice, hold: RecordHold): Promise<Sent> {
  const { accountId, webhookId } = notice;
  if (parts.accounts.unreadable(accountId) !== null) return { kind: 'failed', retryAfterMs: null };
  const target = (await parts.accounts.webhooks(accountId))?.notices;
  const webhook = parts.accounts.webhook(accountId, webhookId);
  // A notice about the notice URL would cause the next one.
  if (!target || !webhook || webhook.endpoint === target.endpoint) return { kind: 'done' };
  const body = bodyOf(notice, webhook);
  const entry = await parts.gate.enter(accountId, target.endpoint, { bytes: body.length });
  if (entry.kind === 'refused') {
    return entry.why === 'closed' ? { kind: 'uncounted' } : { kind: 'failed', retryAfterMs: null };
  }
  let over: Promise<void> | undefined;
  try {
    await mustBeOwn(hold);
    const attempted = await sendTo(parts, target, { accountId, id: notice.id, body }, (err) =>
      parts.logger.error({ err, ...aboutNotice(notice) }, 'a notice could not be prepared; it will be retried'),
    );
    const ended = () => void entry.ended(signalOf(attempted));
    over = attempted?.over?.then(ended);
    if (!over) ended();
    return sentBy(attempted);
  } finally {
    if (over) void over.then(entry.leave);
    else entry.leave();
  }
}

function bodyOf({ notice }: OutgoingNotice, { url }: Webhook): Buffer {
  return Buffer.from(JSON.stringify({ ...notice, data: { ...notice.data, url } }));
}

function sentBy(attempted: AttemptResult | null): Sent {
  switch (attempted?.kind) {
    case 'delivered':
    case 'gone':
      return { kind: 'done' };
    case 'interrupted':
      return { kind: 'uncounted' };
    case 'retryable':
    case undefined:
      return { kind: 'failed', retryAfterMs: attempted?.retryAfterMs ?? null };
    default:
      return attempted satisfies never;
  }
}

function aboutNotice({ id, accountId, webhookId }: OutgoingNotice) {
  return { noticeId: id, accountId, webhookId };
}
