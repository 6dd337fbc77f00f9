import { duration } from '../format/numbers.js';
import { clock, clockMs, day, full, utcClock } from '../format/times.js';
import { now } from '../state/now.js';
import { texts } from '../texts/texts.js';

const MINUTE_MS = 60_000;

/** "in 4 min" or "3 min ago", by the minute; of what lasts since then, "for 3 min". */
export function RelativeTime({ at, isLasting = false }: { at: string; isLasting?: boolean }) {
  const time = new Date(at);
  const left = time.getTime() - Math.max(now.value, Date.now());
  const t = texts.value.time;
  const passed = isLasting ? t.lasting : t.ago;
  const length =
    Math.abs(left) < MINUTE_MS ? t.underAMinute : duration(Math.floor(Math.abs(left) / MINUTE_MS) * MINUTE_MS);
  return (
    <time dateTime={at} title={full(time)}>
      {left > 0 ? t.in(length) : passed(length)}
    </time>
  );
}

/** The reader's own time, and UTC below it. */
export function TimeText({ at, isExact = false }: { at: string; isExact?: boolean }) {
  const time = new Date(at);
  return (
    <time class="time" dateTime={at} title={full(time)}>
      <span>
        {day(time)} <b>{isExact ? clockMs(time) : clock(time)}</b>
      </span>{' '}
      <small>{utcClock(time)}</small>
    </time>
  );
}
