import type { Outcome } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import type { IconName } from '../icons/icons.js';
import { texts } from '../texts/texts.js';

export type ShownOutcome = Outcome | 'held';

const LOOKS: Readonly<Record<ShownOutcome, { icon: IconName; tone: string }>> = {
  delivered: { icon: 'delivered', tone: 'good' },
  retrying: { icon: 'waiting', tone: 'busy' },
  exhausted: { icon: 'given-up', tone: 'bad' },
  held: { icon: 'held', tone: 'warn' },
  cancelled: { icon: 'cancelled', tone: 'muted' },
};

export const shownOutcome = ({ outcome, held }: { outcome: Outcome; held: boolean }): ShownOutcome =>
  held ? 'held' : outcome;

export function OutcomeBadge({ outcome }: { outcome: ShownOutcome }) {
  const { icon, tone } = LOOKS[outcome];
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} size={14} />
      {texts.value.outcomes[outcome]}
    </span>
  );
}
