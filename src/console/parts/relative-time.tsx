import { duration } from '../format/numbers.js';
import { full } from '../format/times.js';
import { now } from '../state/now.js';
import { texts } from '../texts/texts.js';

/** "in 4 min" or "3 min ago", counting; of what lasts since then, "for 3 min". */
export function RelativeTime({ at, isLasting = false }: { at: string; isLasting?: boolean }) {
  const time = new Date(at);
  const left = time.getTime() - now.value;
  const t = texts.value.time;
  const passed = isLasting ? t.lasting : t.ago;
  const text = Math.abs(left) < 1_000 ? t.now : left > 0 ? t.in(duration(left)) : passed(duration(-left));
  return (
    <time dateTime={at} title={full(time)}>
      {text}
    </time>
  );
}
