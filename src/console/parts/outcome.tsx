import type { Outcome, Payment } from '../api/shapes.js';
import { Icon, type IconName } from '../icons/icon.js';
import { errorName } from '../texts/said.js';
import { texts } from '../texts/texts.js';

export type ShownOutcome = Outcome | 'held';

interface Look {
  readonly icon: IconName;
  readonly tone: string;
}

export const OUTCOME_LOOKS: Readonly<Record<ShownOutcome, Look>> = {
  delivered: { icon: 'delivered', tone: 'good' },
  retrying: { icon: 'waiting', tone: 'busy' },
  exhausted: { icon: 'given-up', tone: 'bad' },
  held: { icon: 'held', tone: 'warn' },
  cancelled: { icon: 'cancelled', tone: 'muted' },
};

export const shownOutcome = ({ outcome, held }: { outcome: Outcome; held: boolean }): ShownOutcome =>
  held ? 'held' : outcome;

export function OutcomeBadge({ outcome }: { outcome: ShownOutcome }) {
  return <Badge look={OUTCOME_LOOKS[outcome]} text={texts.value.outcomes[outcome]} />;
}

const ARRIVED: Readonly<Record<Payment['arrived'], Look>> = {
  all: { icon: 'delivered', tone: 'good' },
  part: { icon: 'alert', tone: 'warn' },
  nowhere: { icon: 'given-up', tone: 'bad' },
  nobody: { icon: 'cancelled', tone: 'muted' },
};

/** Of a payment, over all of its destinations. */
export function ArrivedBadge({ arrived }: { arrived: Payment['arrived'] }) {
  return <Badge look={ARRIVED[arrived]} text={texts.value.arrived[arrived]} />;
}

export function Badge({ look: { icon, tone }, text }: { look: Look; text: string }) {
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} size={14} />
      {text}
    </span>
  );
}

interface Answered {
  readonly status: number | null;
  readonly error: string | null;
}

/** The status, or why none came. */
export function LastAnswer({ attempt }: { attempt: Answered }) {
  if (attempt.status === null) return <span class="answered bad">{errorName(attempt.error ?? '')}</span>;
  return <span class={`answered ${attempt.status < 300 ? 'good' : 'bad'}`}>{attempt.status}</span>;
}
