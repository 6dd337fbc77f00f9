import { texts } from '../texts/texts.js';

interface Answered {
  readonly status: number | null;
  readonly error: string | null;
}

/** The status, or why none came. */
export function LastAnswer({ attempt }: { attempt: Answered | undefined }) {
  const t = texts.value;
  if (!attempt) return <span class="muted">{t.deliveries.notTried}</span>;
  if (attempt.status === null) return <span class="answered bad">{t.errors(attempt.error ?? '')}</span>;
  return <span class={`answered ${attempt.status < 300 ? 'good' : 'bad'}`}>{attempt.status}</span>;
}
