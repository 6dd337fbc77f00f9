import type { ComponentChildren } from 'preact';
import type { DetailedAttempt, DetailedDelivery } from '../api/shapes.js';
import { duration } from '../format/numbers.js';
import { Icon, type IconName } from '../icons/icon.js';
import { MissingRight } from '../parts/notice.js';
import { OUTCOME_LOOKS } from '../parts/outcome.js';
import { Untrusted, UrlText } from '../parts/text.js';
import { RelativeTime, TimeText } from '../parts/time.js';
import { addressOf } from '../state/addresses.js';
import { may } from '../state/session.js';
import { causeOf, errorName, nameOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import type { Phase } from './phase.js';

/** The way of the payment event, from its publication to the end or the next attempt. */
export function Timeline({ delivery, phase }: { delivery: DetailedDelivery; phase: Phase }) {
  const t = texts.value.delivery.steps;
  const { attempts, publishedAt } = delivery;
  return (
    <ol class="timeline">
      {publishedAt && (
        <Step tone="muted" icon="payments" title={t.published} at={publishedAt}>
          <a href={addressOf('/history', { at: publishedAt })}>{texts.value.history.past}</a>
        </Step>
      )}
      {attempts.map((attempt, index) => (
        <AttemptStep key={attempt.at} attempt={attempt} number={index + 1} isLast={index === attempts.length - 1} />
      ))}
      <PhaseStep phase={phase} next={attempts.length + 1} />
    </ol>
  );
}

/** What follows, or how it ended. */
function PhaseStep({ phase, next }: { phase: Phase; next: number }) {
  const { waits, outcomes, delivery } = texts.value;
  const t = delivery.steps;
  switch (phase.kind) {
    case 'sending':
      return <Step tone="busy" icon="waiting" title={delivery.resending} />;
    case 'waiting':
      return (
        <Step tone="busy" icon="waiting" title={t.next(next)} at={phase.at}>
          <p>{phase.at ? <RelativeTime at={phase.at} /> : waits[phase.why]}</p>
        </Step>
      );
    case 'exhausted':
    case 'held':
    case 'cancelled':
      return <Step {...OUTCOME_LOOKS[phase.kind]} title={outcomes[phase.kind]} />;
    case 'delivered':
      return null;
    default:
      return phase satisfies never;
  }
}

function AttemptStep({ attempt, number, isLast }: { attempt: DetailedAttempt; number: number; isLast: boolean }) {
  const t = texts.value.delivery;
  const { status, error, trigger, actor, url } = attempt;
  const isGood = status !== null && status >= 200 && status < 300;
  return (
    <Step
      tone={isGood ? 'good' : 'bad'}
      icon={isGood ? 'delivered' : 'given-up'}
      title={
        <>
          {t.steps.attempt(number)} <b class="answered">{status ?? errorName(error ?? '')}</b>
        </>
      }
      at={attempt.at}
    >
      <div class="cluster muted note">
        <span>{duration(attempt.durationMs)}</span>
        {trigger !== 'event' && <span title={actor ?? ''}>{t.triggers[trigger](actor && nameOf(actor))}</span>}
        {url && <UrlText url={url} />}
      </div>
      {(!isGood || attempt.response) && <Answer attempt={attempt} isOpen={isLast} />}
    </Step>
  );
}

function Answer({ attempt, isOpen }: { attempt: DetailedAttempt; isOpen: boolean }) {
  const { status, error, reason, response } = attempt;
  return (
    <>
      {error && reason && <p>{causeOf(attempt)[0]}</p>}
      {status !== null && !may('payloads') && isOpen && <MissingRight right="payloads" />}
      {response && (
        <details open={isOpen}>
          <summary>{texts.value.delivery.steps.answer}</summary>
          <pre class="code">
            <Untrusted text={response} />
          </pre>
        </details>
      )}
    </>
  );
}

interface StepParts {
  readonly tone: string;
  readonly icon: IconName;
  readonly title: ComponentChildren;
  readonly at?: string | null;
  readonly children?: ComponentChildren;
}

function Step({ tone, icon, title, at, children }: StepParts) {
  return (
    <li class={`step ${tone}`}>
      <span class="mark">
        <Icon name={icon} size={14} />
      </span>
      <div class="stack tight">
        <div class="split">
          <span>{title}</span>
          {at && <TimeText at={at} isExact />}
        </div>
        {children}
      </div>
    </li>
  );
}
