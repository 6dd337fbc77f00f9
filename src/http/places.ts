/**
 * Places for work in progress: an account has so many, and each of its users a part of them. The next one waits, in order,
 * but not behind one whose user has all of its own.
 */
import { ApiError, retryAfter } from './api-error.js';

const OF_AN_ACCOUNT = 16;
const OF_A_USER = 4;
const MOST_WAITING = 64;
const LONGEST_WAIT_MS = 2_000;

interface Line {
  /** The user of each place that is taken. */
  readonly taken: string[];
  readonly waiting: { readonly user: string; readonly letIn: () => void }[];
}

export class Places {
  readonly #lines = new Map<number, Line>();

  /** @throws ApiError 429 if too many wait, or none gets free in time */
  async take(accountId: number, user: string): Promise<void> {
    const line = this.#lines.get(accountId) ?? { taken: [], waiting: [] };
    this.#lines.set(accountId, line);
    if (isFree(line, user)) line.taken.push(user);
    else if (line.waiting.length < MOST_WAITING) await waited(line, user);
    else throw tooMany();
  }

  leave(accountId: number, user: string): void {
    const line = this.#lines.get(accountId);
    if (!line) return;
    line.taken.splice(line.taken.indexOf(user), 1);
    const next = line.waiting.findIndex((waiting) => isFree(line, waiting.user));
    if (next !== -1) line.waiting.splice(next, 1)[0]?.letIn();
    if (line.taken.length === 0) this.#lines.delete(accountId);
  }
}

function isFree({ taken }: Line, user: string): boolean {
  return taken.length < OF_AN_ACCOUNT && taken.filter((one) => one === user).length < OF_A_USER;
}

function waited(line: Line, user: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const one = {
      user,
      letIn() {
        clearTimeout(timer);
        line.taken.push(user);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      line.waiting.splice(line.waiting.indexOf(one), 1);
      reject(tooMany());
    }, LONGEST_WAIT_MS);
    line.waiting.push(one);
  });
}

function tooMany(): ApiError {
  return new ApiError({ code: 'too-many-waiting' }, retryAfter(LONGEST_WAIT_MS));
}
