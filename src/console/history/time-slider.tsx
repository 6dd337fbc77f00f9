import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { full, localInput } from '../format/times.js';
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
  const goTo = (time: number) => go(time >= Date.now() ? null : new Date(time).toISOString());
  useEffect(() => {
    if (dragged === null) return;
    const timer = setTimeout(() => {
      drag(null);
      goTo(dragged);
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
        <ExactTime min={min} max={max} chosen={Math.min(chosen, now.value)} onChoose={goTo} />
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

interface ExactParts {
  /** All in ms since the epoch. */
  readonly min: number;
  readonly max: number;
  readonly chosen: number;
  readonly onChoose: (time: number) => void;
}

/** In the reader's zone: the slider's pixels stand for minutes. */
function ExactTime({ min, max, chosen, onChoose }: ExactParts) {
  // What is half typed is no time, and stays until its field is left.
  const [typed, type] = useState<string | null>(null);
  return (
    <input
      type="datetime-local"
      aria-label={texts.value.history.exactTime}
      min={localInput(new Date(min))}
      max={localInput(new Date(max))}
      value={typed ?? localInput(new Date(chosen))}
      onInput={({ currentTarget: { value } }) => type(value)}
      onChange={({ currentTarget: { value, validity } }) => value && validity.valid && onChoose(Date.parse(value))}
      onBlur={({ currentTarget: { validity } }) => {
        if (validity.rangeUnderflow) onChoose(min);
        if (validity.rangeOverflow) onChoose(max);
        type(null);
      }}
    />
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
