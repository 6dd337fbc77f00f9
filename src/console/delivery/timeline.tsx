import { Fragment } from 'preact';
import type { DetailedDelivery } from '../api/shapes.js';
import { RelativeTime } from '../parts/relative-time.js';
import { isAhead } from '../state/now.js';
import { texts } from '../texts/texts.js';
import { AttemptStep } from './attempt-step.js';
import { ChangeStep, useChangesMeanwhile } from './changes-meanwhile.js';
import { Step } from './step.js';

interface TimelineParts {
  readonly delivery: DetailedDelivery;
  readonly isAwaited: boolean;
  /** Its URL. */
  readonly isFailing: boolean;
}

/** The way of the payment event, from its publication to the end or the next attempt. */
export function Timeline({ delivery, isAwaited, isFailing }: TimelineParts) {
  const t = texts.value.delivery.steps;
  const { attempts, publishedAt, outcome, held, sentAgain } = delivery;
  const routedAt = routedBefore(delivery);
  const steps = [
    ...attempts.map((attempt, index) => ({
      at: attempt.at,
      step: <AttemptStep attempt={attempt} number={index + 1} isLast={index === attempts.length - 1} />,
    })),
    ...useChangesMeanwhile(delivery).map((change) => ({ at: change.at, step: <ChangeStep change={change} /> })),
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return (
    <ol class="timeline">
      {publishedAt && <Step tone="muted" icon="deliveries" title={t.published} at={publishedAt} />}
      {routedAt && <Step tone="muted" icon="next" title={t.routed} at={routedAt} />}
      {steps.map(({ at, step }) => (
        <Fragment key={at}>{step}</Fragment>
      ))}
      {isAwaited && <Step tone="busy" icon="waiting" title={t.resending} />}
      {!isAwaited && (outcome === 'retrying' || sentAgain) && <NextStep delivery={delivery} isFailing={isFailing} />}
      {!isAwaited && outcome === 'exhausted' && (
        <Step tone={held ? 'warn' : 'bad'} icon={held ? 'held' : 'given-up'} title={held ? t.held : t.givenUp}>
          <p>{held ? t.heldExplained : t.givenUpExplained}</p>
        </Step>
      )}
      {!isAwaited && outcome === 'cancelled' && <Step tone="muted" icon="cancelled" title={t.cancelled} />}
    </ol>
  );
}

/** The routing is recorded once it is confirmed, and the first attempt does not wait for that. */
function routedBefore({ routedAt, attempts: [first] }: DetailedDelivery): string | null {
  return routedAt && first && first.at < routedAt ? first.at : routedAt;
}

function NextStep({ delivery, isFailing }: Omit<TimelineParts, 'isAwaited'>) {
  const { steps: t, failing } = texts.value.delivery;
  const { waits } = texts.value.deliveries;
  const { nextAttemptAt: at, waitingFor, attempts } = delivery;
  const title = t.next(attempts.length + 1);
  // A time that has passed since the last look is none: the delivery waits for others of its URL.
  const isPlanned = at !== null && isAhead(at);
  return (
    <Step tone="busy" icon="waiting" title={title} {...(isPlanned && { at })}>
      {isPlanned ? (
        <p>
          <RelativeTime at={at} />
        </p>
      ) : (
        <p>{isFailing ? failing : waits[waitingFor ?? 'queue']}</p>
      )}
    </Step>
  );
}
