import type { DetailedDelivery } from '../api/shapes.js';
import { Untrusted } from '../parts/untrusted.js';
import { type Change, historyAddress, useChanges } from '../state/changes.js';
import { detailOf, titleOf } from '../texts/changes-said.js';
import { nameOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Step } from './step.js';

type TimedChange = Change & { readonly at: string };

/** What changed at the delivery's webhook from its publication to its last attempt, or until now while it waits. */
export function useChangesMeanwhile(delivery: DetailedDelivery): readonly TimedChange[] {
  const { publishedAt, outcome, attempts, webhookId } = delivery;
  const from = publishedAt ?? attempts[0]?.at ?? '';
  const changes = useChanges(from).data?.changes ?? [];
  const last = outcome === 'retrying' ? Number.POSITIVE_INFINITY : Date.parse(attempts.at(-1)?.at ?? from);
  return changes.filter((change): change is TimedChange => {
    const at = Date.parse(change.at ?? '');
    return change.webhookId === webhookId && at >= Date.parse(from) && at <= last;
  });
}

export function ChangeStep({ change }: { change: TimedChange }) {
  const { changes: t, history } = texts.value;
  const { at, actor } = change;
  const title = titleOf(change);
  return (
    <Step tone="muted" icon="history" title={actor ? t.by(title, nameOf(actor)) : title} at={at}>
      <p>
        <a href={historyAddress(at)}>
          <Untrusted text={detailOf(change) || history.title} />
        </a>
      </p>
    </Step>
  );
}
