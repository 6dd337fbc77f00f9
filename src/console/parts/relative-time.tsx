import { duration } from '../format/numbers.js';
import { full } from '../format/times.js';
import { now } from '../state/now.js';
import { texts } from '../texts/texts.js';

/** "in 4 min" or "3 min ago", counting. */
export function RelativeTime({ at }: { at: string }) {
  const time = new Date(at);
  const left = time.getTime() - now.value;
  const t = texts.value.time;
  const text = Math.abs(left) < 1_000 ? t.now : left > 0 ? t.in(duration(left)) : t.ago(duration(-left));
  return (
    <time dateTime={at} title={full(time)}>
      {text}
    </time>
  );
}
