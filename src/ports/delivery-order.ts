/**
 * Which entry decides a delivery's outcome. All users (view, list, replay, audit) share this total order: entries may come
 * in any order, over any partitions, and twice.
 *
 * Words: a delivery's *turn* counts its attempts and replays so far. Each entry has it.
 */
export const OUTCOMES = ['delivered', 'retrying', 'exhausted', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What ended a delivery, where it was neither an attempt nor its account's word about it. */
export const REMOVAL = 'webhook-removed' as const;

/** What an attempt is made for. */
export const TRIGGERS = ['event', 'retry', 'resend', 'recover', 'replay'] as const;

/** An entry's content, as far as the order needs it. */
export interface Said {
  readonly outcome: Outcome;
  readonly turn: number;
  /** Publication time of the entry, ms since the epoch. */
  readonly at: number;
  /** ISO 8601; null if no attempt follows, or its time is unknown. */
  readonly nextAttemptAt: string | null;
  /** Of an earlier end that holds again: its turn, which its dead letter has. */
  readonly endTurn?: number | undefined;
}

/** What a delivery was before it was sent again: it is that again if the attempt is cancelled. */
export interface EndBefore {
  readonly outcome: Exclude<Outcome, 'retrying'>;
  readonly held?: true | undefined;
  readonly turn: number;
}

const RANKS: readonly ((said: Said) => number)[] = [isDelivered, ({ turn }) => turn, isEnd, ({ at }) => at];

/**
 * Whether `one` outranks `other`: delivered first, then the higher turn, then an end, then the later time. Ties are broken
 * by content, which makes the order total.
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

function text({ outcome, nextAttemptAt, endTurn }: Said): string {
  return `${outcome} ${nextAttemptAt ?? ''} ${endTurn ?? ''}`;
}
