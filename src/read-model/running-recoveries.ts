/** Which accounts have a recovery that runs, for the process that runs them. Other accounts are not held. */
import { forEachInSlices } from '../time/in-slices.js';
import type { AccountState, Recovery } from '../webhooks/state.js';
import type { AccountStates } from './account-states.js';
import type { Committed } from './projection-store.js';

export interface RunningRecovery {
  readonly accountId: number;
  readonly recovery: Recovery;
}

export class RunningRecoveries {
  readonly #known: Pick<AccountStates<AccountState>, 'all' | 'cached' | 'setAside'>;
  readonly #streams = new Set<string>();

  constructor(known: Pick<AccountStates<AccountState>, 'all' | 'cached' | 'setAside'>) {
    this.#known = known;
  }

  /** Call whenever the read model has committed. */
  committed({ changed }: Pick<Committed<AccountState>, 'changed'>): void {
    for (const [stream, { state }] of changed) {
      if (runningIn(state).length > 0) this.#streams.add(stream);
      else this.#streams.delete(stream);
    }
  }

  /** Finds those that started before this process did. It only adds: what ends meanwhile is left out by `now`. */
  async scan(signal: AbortSignal): Promise<void> {
    await forEachInSlices(this.#known.all(), ([stream, state]) => {
      if (runningIn(state).length > 0) this.#streams.add(stream);
      return !signal.aborted;
    });
  }

  /** As far as known here. Those of an account that is set aside wait. */
  now(): readonly RunningRecovery[] {
    return [...this.#streams].flatMap((stream) => this.#runningOf(stream));
  }

  #runningOf(stream: string): RunningRecovery[] {
    if (this.#known.setAside.has(stream)) return [];
    const state = this.#known.cached(stream)?.state;
    const accountId = state?.['account-webhooks'].accountId ?? null;
    if (!state || accountId === null) return [];
    const running = runningIn(state);
    if (running.length === 0) this.#streams.delete(stream);
    return running.map((recovery) => ({ accountId, recovery }));
  }
}

function runningIn({ 'account-webhooks': { recoveries } }: AccountState): readonly Recovery[] {
  return recoveries.filter(({ state }) => state === 'running');
}
