/**
 * The one fold of a delivery: its outcome, from its entries and requests in any order, over any partitions, and twice. View,
 * list, replay and audit share it.
 *
 * Words: a *chain* is the attempts that one payment (chain 0) or one request (its offset plus one) begins.
 *
 * Two maxima are kept. The highest status says what holds; where that is cancelled, the highest given-up one does, of any
 * chain. So what was given up can be recovered whatever was asked, cancelled, paused or removed after it.
 */
export const OUTCOMES = ['delivered', 'retrying', 'exhausted', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What ended a delivery, where it was neither an attempt nor its account's word about it. */
export const REMOVAL = 'webhook-removed' as const;

/**
 * Why a delivery waits. schedule: for the time of its next attempt. endpoint-failing: its URL takes nothing. endpoint-paused:
 * its URL asked for a pause or a lower rate (429, 503). queue: others are before it.
 */
export const WAITING_FOR = ['schedule', 'endpoint-failing', 'endpoint-paused', 'queue'] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

/** What an attempt is made for. */
export const TRIGGERS = ['event', 'retry', 'resend', 'recover', 'replay'] as const;

/** An entry's content, as far as the order needs it. */
export interface DeliveryStatus {
  readonly outcome: Outcome;
  readonly chain: number;
  /** That its chain had made by then. */
  readonly attempts: number;
  /** Publication time of the entry, ms since the epoch. */
  readonly at: number;
  /** ISO 8601; null if no attempt follows, or its time is unknown. */
  readonly nextAttemptAt: string | null;
  readonly waitingFor?: WaitingFor | null | undefined;
}

export interface DeliveryFold<Status extends DeliveryStatus = DeliveryStatus> {
  readonly last: Status;
  /** The highest of those that are exhausted or held; null: none is. */
  readonly givenUp: Status | null;
}

export function withStatus<Status extends DeliveryStatus>(
  known: DeliveryFold<Status> | undefined,
  status: Status,
): DeliveryFold<Status> {
  const givenUp = status.outcome === 'exhausted' ? status : null;
  if (!known) return { last: status, givenUp };
  return {
    last: higher(known.last, status),
    givenUp: known.givenUp && givenUp ? higher(known.givenUp, givenUp) : (known.givenUp ?? givenUp),
  };
}

/** What holds. */
export function statusOf<Status extends DeliveryStatus>({ last, givenUp }: DeliveryFold<Status>): Status {
  return last.outcome === 'cancelled' && givenUp ? givenUp : last;
}

function higher<Status extends DeliveryStatus>(known: Status, status: Status): Status {
  return outranks(status, known) ? status : known;
}

const RANKS: readonly ((status: DeliveryStatus) => number)[] = [
  ({ outcome }) => Number(outcome === 'delivered'),
  ({ chain }) => chain,
  ({ attempts }) => attempts,
  ({ outcome }) => Number(outcome !== 'retrying'),
  ({ outcome }) => Number(outcome === 'exhausted'),
  ({ at }) => at,
];

/**
 * Whether `one` outranks `other`: delivered first, then the later chain, then more attempts, then an end, then a given-up
 * one, then the later time. Ties are broken by content, which makes the order total.
 */
export function outranks(one: DeliveryStatus, other: DeliveryStatus): boolean {
  for (const rank of RANKS) if (rank(one) !== rank(other)) return rank(one) > rank(other);
  return text(one) > text(other);
}

function text(status: DeliveryStatus): string {
  const { outcome, nextAttemptAt, waitingFor } = status;
  return `${outcome} ${nextAttemptAt ?? ''} ${waitingFor ?? ''} ${JSON.stringify(Object.entries(status).sort())}`;
}
