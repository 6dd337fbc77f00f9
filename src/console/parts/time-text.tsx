import { clock, day, full, utcClock } from '../format/times.js';

/** The reader's own time, and UTC below it. */
export function TimeText({ at }: { at: string }) {
  const time = new Date(at);
  return (
    <time class="time" dateTime={at} title={full(time)}>
      <span>
        {day(time)} <b>{clock(time)}</b>
      </span>
      <small>{utcClock(time)}</small>
    </time>
  );
}
