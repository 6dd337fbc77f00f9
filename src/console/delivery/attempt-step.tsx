import type { DetailedAttempt } from '../api/shapes.js';
import { latency } from '../format/numbers.js';
import { revealed } from '../format/untrusted.js';
import { MissingRight } from '../parts/missing-right.js';
import { Untrusted } from '../parts/untrusted.js';
import { may } from '../state/session.js';
import { nameOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Step } from './step.js';

interface AttemptParts {
  readonly attempt: DetailedAttempt;
  readonly number: number;
  readonly isLast: boolean;
}

export function AttemptStep({ attempt, number, isLast }: AttemptParts) {
  const t = texts.value;
  const { status, error, trigger, actor } = attempt;
  const isGood = status !== null && status >= 200 && status < 300;
  return (
    <Step
      tone={isGood ? 'good' : 'bad'}
      icon={isGood ? 'delivered' : 'given-up'}
      title={
        <>
          {t.delivery.steps.attempt(number)} <b class="answered">{status ?? t.errors(error ?? '')}</b>
        </>
      }
      at={attempt.at}
    >
      <p class="cluster muted note">
        <span>{latency(attempt.durationMs)}</span>
        {trigger !== 'event' && (
          <span title={revealed(actor ?? '')}>{t.delivery.triggers[trigger](actor && nameOf(actor))}</span>
        )}
      </p>
      {(!isGood || attempt.response) && <Answer attempt={attempt} isOpen={isLast} />}
    </Step>
  );
}

function Answer({ attempt, isOpen }: { attempt: DetailedAttempt; isOpen: boolean }) {
  const t = texts.value;
  const { status, error, reason, response } = attempt;
  return (
    <>
      {error && reason && <p>{t.reason(reason)}</p>}
      {status !== null && !may('payloads') && isOpen && <MissingRight right="payloads" />}
      {response && (
        <details open={isOpen}>
          <summary>{t.delivery.steps.answer}</summary>
          <pre class="code">
            <Untrusted text={response} />
          </pre>
        </details>
      )}
    </>
  );
}
