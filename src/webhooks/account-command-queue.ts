/**
 * Runs the commands of each account one at a time in this process, and takes turns between its users.
 *
 * Concurrent commands race for the same stream revision: one append succeeds and the others are decided again, so n
 * concurrent commands cost about n * n / 2 appends. On EventStoreDB this slowed one account from 50 POSTs per second to 2.
 *
 * A change to a large account is followed by a pause in proportion to its size, because the read model rewrites the whole
 * account: with 40 connections, 1 MiB a hundred times per second. With the pause, a 1 MiB account gets 24 changes per second.
 */

import { RoundRobin } from '../limits/round-robin.js';
import { type Requester, USER_SHARE } from '../limits/user-limits.js';
import { BrokerUnavailable } from '../ports/broker.js';
import { StoreUnavailable } from '../ports/event-store.js';

interface AccountQueue {
  running: number;
  readonly waiting: RoundRobin<() => void>;
}

const CHARACTERS_PER_MS = 25_000;
/** Shorter pauses are skipped: those of accounts below 125,000 characters. */
const MIN_PAUSE_MS = 5;

/** Limit per account: each queued command holds its request body, and outlives its connection. */
const MAX_QUEUED_COMMANDS = 1_000;

/** The command was not started. */
export class CommandQueueFull extends Error {
  override readonly name = 'CommandQueueFull';
}

export interface CommandSlot {
  /** The command has changed an account of this size. */
  changed(characters: number): void;
}

export class AccountCommandQueue {
  readonly #queues = new Map<number, AccountQueue>();
  readonly #maxQueued: number;

  constructor(maxQueued = MAX_QUEUED_COMMANDS) {
    this.#maxQueued = maxQueued;
  }

  /**
   * Runs `work` after the user's earlier commands. Rejects with the error of `work`.
   * @param requester null: the service itself, which is exempt from the limit
   * @throws CommandQueueFull before `work` has started
   */
  async run<T>(accountId: number, work: (slot: CommandSlot) => Promise<T>, requester: Requester | null): Promise<T> {
    await this.#admit(accountId, requester);
    let pauseMs = 0;
    const changed = (characters: number) => {
      pauseMs = characters / CHARACTERS_PER_MS;
    };
    try {
      const result = await work({ changed });
      if (pauseMs < MIN_PAUSE_MS) this.#release(accountId, false);
      else setTimeout(() => this.#release(accountId, false), pauseMs);
      return result;
    } catch (error) {
      this.#release(accountId, error instanceof StoreUnavailable || error instanceof BrokerUnavailable);
      throw error;
    }
  }

  /** @throws CommandQueueFull */
  #admit(accountId: number, requester: Requester | null): Promise<void> | undefined {
    const queue = this.#queues.get(accountId);
    if (!queue) {
      this.#queues.set(accountId, { running: 1, waiting: new RoundRobin() });
      return undefined;
    }
    const { waiting } = queue;
    if (requester && this.#isFull(waiting, requester.user) && !requester.mayExceed()) {
      throw new CommandQueueFull(`too many queued commands for account ${accountId}`);
    }
    return new Promise((resolve) => waiting.add(requester?.user ?? SERVICE, resolve));
  }

  #isFull(waiting: RoundRobin<() => void>, user: string): boolean {
    return waiting.length >= this.#maxQueued || waiting.lengthFor(user) >= this.#maxQueued * USER_SHARE;
  }

  /** @param isOutage release all queued commands: one by one, each would wait for its own store or broker timeout */
  #release(accountId: number, isOutage: boolean): void {
    const queue = this.#queues.get(accountId);
    if (!queue) return;
    const { waiting } = queue;
    queue.running -= 1;
    const count = isOutage ? waiting.length : Math.min(waiting.length, Number(queue.running === 0));
    const next = Array.from({ length: count }, () => waiting.next());
    queue.running += count;
    if (queue.running === 0) this.#queues.delete(accountId);
    for (const start of next) start?.();
  }
}

/** No user: client ids, session ids and subjects are not empty. */
const SERVICE = '';
