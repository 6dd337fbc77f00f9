import type { Polled } from '../state/polled.js';
import { texts } from '../texts/texts.js';
import { Freshness } from './freshness.js';

/** While the first answer is on its way. @param of says why there is none; absent: it stands elsewhere */
export function Skeleton({ lines, of }: { lines: number; of?: Polled<unknown> }) {
  if (of?.failure) return <Freshness of={of} />;
  return (
    <div class="skeleton stack close" role="status" aria-label={texts.value.freshness.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}
