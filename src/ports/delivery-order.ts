/**
 * Which entry of a delivery says what became of it. One order for all who ask (view, list, replay, audit), and a total one:
 * entries may come in any order, over any partitions, and twice.
 *
 * Words: a delivery's *turn* is how many attempts and replays it has behind it. Each entry names it; of entries that
 * earlier releases wrote, which don't, it is 0: what is written after them counts, and among them an end.
 */
export const OUTCOMES = ['delivered', 'retrying', 'exhausted', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What an entry says. */
export interface Said {
  readonly outcome: Outcome;
  readonly turn: number;
  /** When the entry was published, ms since the epoch. */
  readonly at: number;
  /** ISO 8601; null where no attempt follows, or its time is not known. */
  readonly nextAttemptAt: string | null;
}

const RANKS: readonly ((said: Said) => number)[] = [isDelivered, ({ turn }) => turn, isEnd, ({ at }) => at];

/**
 * Whether `one` takes the place of `other`: delivered before all else, then the higher turn, then an end, then the later
 * time. What is the same in all of these is ordered by what it says, so that the order is total.
 */
export function outranks(one: Said, other: Said): boolean {
  for (const rank of RANKS) if (rank(one) !== rank(other)) return rank(one) > rank(other);
  return text(one) > text(other);
}

function isDelivered({ outcome }: Said): number {
  return outcome === 'delivered' ? 1 : 0;
}

function isEnd({ outcome }: Said): number {
  return outcome === 'retrying' ? 0 : 1;
}

function text({ outcome, nextAttemptAt }: Said): string {
  return `${outcome} ${nextAttemptAt ?? ''}`;
}
