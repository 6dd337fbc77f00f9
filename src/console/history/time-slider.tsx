import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { full } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import { TimeText } from '../parts/time-text.js';
import { addressOf } from '../state/addresses.js';
import type { Change } from '../state/changes.js';
import { now } from '../state/now.js';
import { texts } from '../texts/texts.js';

interface SliderParts {
  /** Newest first. */
  readonly changes: readonly Change[];
  readonly first: string;
  /** Null: now. */
  readonly at: string | null;
  readonly before: string;
}

/** After a drag has paused so long, the list is asked for. */
const PAUSE_MS = 150;
const A_MINUTE = 60_000;

export function TimeSlider({ changes, first, at, before }: SliderParts) {
  const { route } = useLocation();
  const [dragged, drag] = useState<number | null>(null);
  const t = texts.value.history;
  const min = Date.parse(first);
  // By the minute, so that the thumb does not move by itself.
  const max = Math.max(Math.ceil(now.value / A_MINUTE) * A_MINUTE, min + A_MINUTE);
  const chosen = dragged ?? (at ? Date.parse(at) : max);
  const isNow = chosen >= now.value;
  const go = (to: string | null) => route(addressOf('/history', { at: to, before }), true);
  useEffect(() => {
    if (dragged === null) return;
    const timer = setTimeout(() => {
      drag(null);
      go(dragged >= Date.now() ? null : new Date(dragged).toISOString());
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [dragged]);
  const { previous, next } = neighbours(changes, chosen);
  return (
    <div class="slider">
      <output>{isNow ? <b>{t.now}</b> : <TimeText at={new Date(chosen).toISOString()} />}</output>
      <input
        type="range"
        min={min}
        max={max}
        step="any"
        value={chosen}
        aria-label={t.time}
        aria-valuetext={isNow ? t.now : full(new Date(chosen))}
        onInput={({ currentTarget }) => drag(currentTarget.valueAsNumber)}
      />
      <div class="cluster">
        <button type="button" class="button" disabled={!previous} onClick={() => go(previous)}>
          <Icon name="previous" size={14} />
          {t.previous}
        </button>
        <button type="button" class="button" disabled={!next} onClick={() => go(next)}>
          {t.next}
          <Icon name="next" size={14} />
        </button>
        {at && (
          <button type="button" class="button ghost" onClick={() => go(null)}>
            {t.backToNow}
          </button>
        )}
      </div>
    </div>
  );
}

/** The times of the webhooks' changes before and after one, where the list was another. */
function neighbours(changes: readonly Change[], chosen: number) {
  const times = changes.flatMap(({ at, type }) => (at && type.startsWith('Webhook') ? [at] : []));
  return {
    previous: times.find((time) => Date.parse(time) < chosen) ?? null,
    next: times.findLast((time) => Date.parse(time) > chosen) ?? null,
  };
}
