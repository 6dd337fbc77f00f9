import type { DetailedDelivery } from '../api/shapes.js';
import { Untrusted } from '../parts/untrusted.js';
import { type Change, historyAddress, useChanges } from '../state/changes.js';
import { detailOf, titleOf } from '../texts/changes-said.js';
import { nameOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Step } from './step.js';

const ENDINGS = ['WebhookDeactivated', 'WebhookRemoved'];

type TimedChange = Change & { readonly at: string };

/**
 * What changed at the delivery's webhook from its publication to its last attempt, or until now while it waits. One that is
 * cancelled ended between two attempts: the API does not say when, so to what switched its webhook off or removed it.
 */
export function useChangesMeanwhile(delivery: DetailedDelivery): readonly TimedChange[] {
  const { publishedAt, outcome, attempts, webhookId } = delivery;
  const from = publishedAt ?? attempts[0]?.at ?? '';
  const changes = useChanges(from).data?.changes ?? [];
  const lastAttempt = Date.parse(attempts.at(-1)?.at ?? from);
  const own = changes.filter(
    (change): change is TimedChange =>
      change.webhookId === webhookId && Date.parse(change.at ?? '') >= Date.parse(from),
  );
  // Newest first.
  const ending = own.findLast(({ at, type }) => ENDINGS.includes(type) && Date.parse(at) >= lastAttempt);
  const cancelled = outcome === 'cancelled' && ending ? Date.parse(ending.at) : lastAttempt;
  return outcome === 'retrying' ? own : own.filter(({ at }) => Date.parse(at) <= cancelled);
}

export function ChangeStep({ change }: { change: TimedChange }) {
  const { changes: t, screens } = texts.value;
  const { at, actor } = change;
  const title = titleOf(change);
  return (
    <Step tone="muted" icon="history" title={actor ? t.by(title, nameOf(actor)) : title} at={at}>
      <p>
        <a href={historyAddress(at)}>
          <Untrusted text={detailOf(change) || screens.history} />
        </a>
      </p>
    </Step>
  );
}
