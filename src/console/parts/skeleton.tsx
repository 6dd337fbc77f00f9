import { texts } from '../texts/texts.js';

/** While the first answer is on its way. */
export function Skeleton({ lines }: { lines: number }) {
  return (
    <div class="skeleton stack close" role="status" aria-label={texts.value.freshness.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}
