import { isFinal } from '../api/client.js';
import { duration } from '../format/numbers.js';
import { clock } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import { now } from '../state/now.js';
import type { Polled } from '../state/polled.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

/** When the service last said what stands here, and why not since. */
export function Freshness({ of }: { of: Polled<unknown> }) {
  const t = texts.value.freshness;
  if (of.failure) {
    const since = of.at === null ? t.never : t.asOf(clock(new Date(of.at)));
    return (
      <span class="cluster note bad" role="status">
        <Icon name="offline" size={14} />
        {isFinal(of.failure)
          ? whyOf(of.failure, t.failing(of.failure.status))
          : `${t.failing(of.failure.status)} ${since}`}
      </span>
    );
  }
  if (of.at === null) return <span class="note muted">{t.loading}</span>;
  const ago = now.value - of.at;
  return <span class="note muted">{ago < 2_000 ? t.justNow : t.ago(duration(ago))}</span>;
}

/** Greyed: it may have changed, or belongs to what was asked before. */
export const staleness = ({ failure, isLast }: Polled<unknown> & { isLast?: boolean }) =>
  failure || isLast ? ' stale' : '';
