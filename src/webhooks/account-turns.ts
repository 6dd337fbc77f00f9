/**
 * Handles the commands of one account one after the other in this process. Of n concurrent decisions at one revision,
 * only one is appended and the others are repeated: n commands at once are n * n / 2 appends. This slowed 50 POSTs a
 * second of one account to an EventStoreDB to 2 a second.
 *
 * A change of a large account is followed by a pause of that account, because the read model stores the whole account
 * again: 1 MiB, a hundred times a second with 40 connections. With the pause, an account of 1 MiB has 24 changes a
 * second.
 */
import { BrokerUnavailable } from '../ports/broker.js';
import { StoreUnavailable } from '../ports/event-store.js';

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

const CHARACTERS_A_MS = 25_000;
/** Shorter pauses are skipped: those of accounts below 125,000 characters. */
const SHORTEST_PAUSE_MS = 5;

/** Of an account's own: each holds its request's body, and outlives its connection. */
const MOST_WAITING = 1_000;

/** Nothing was done. */
export class TooManyWaiting extends Error {
  override readonly name = 'TooManyWaiting';
}

export interface Turn {
  /** The work has changed an account of this size. */
  changed(characters: number): void;
}

export class AccountTurns {
  readonly #lines = new Map<number, Line>();

  /**
   * Rejects with the work's rejection.
   * @param work is repeated while it returns null: the account's stream had moved on
   * @param by commands of the service itself are not limited
   * @throws TooManyWaiting
   */
  async take<T>(
    accountId: number,
    work: (turn: Turn) => Promise<T | null>,
    by: 'account' | 'service' = 'account',
  ): Promise<T> {
    const waiting = this.#lines.get(accountId)?.waiting.length ?? 0;
    if (by === 'account' && waiting >= MOST_WAITING) throw new TooManyWaiting('too many commands of this account wait');
    await this.#letIn(accountId);
    let pauseMs = 0;
    const changed = (characters: number) => {
      pauseMs = characters / CHARACTERS_A_MS;
    };
    try {
      let result = await work({ changed });
      while (result === null) result = await work({ changed });
      if (pauseMs < SHORTEST_PAUSE_MS) this.#ended(accountId, false);
      else setTimeout(() => this.#ended(accountId, false), pauseMs);
      return result;
    } catch (error) {
      this.#ended(accountId, error instanceof StoreUnavailable || error instanceof BrokerUnavailable);
      throw error;
    }
  }

  #letIn(accountId: number): Promise<void> | undefined {
    const line = this.#lines.get(accountId);
    if (line) return new Promise((resolve) => line.waiting.push(resolve));
    this.#lines.set(accountId, { running: 1, waiting: [] });
    return undefined;
  }

  /** @param isOutage releases all waiting commands: in turn, each would wait until the store or the broker fails */
  #ended(accountId: number, isOutage: boolean): void {
    const line = this.#lines.get(accountId);
    if (!line) return;
    line.running -= 1;
    const next = line.waiting.splice(0, isOutage ? line.waiting.length : Number(line.running === 0));
    line.running += next.length;
    if (line.running === 0) this.#lines.delete(accountId);
    for (const letIn of next) letIn();
  }
}
