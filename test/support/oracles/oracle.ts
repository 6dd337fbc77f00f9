/**
 * Compares published events with a receiver's requests: each event must reach each URL it is due to, with the published body,
 * under one webhook-id. Tell it about events before they are published; ask it at any time.
 */
import { appendFileSync } from 'node:fs';
import { eventually } from '../clocks/eventually.js';
import type { ReceivedRequest, Receiver } from '../servers/receiver.js';

const SHOWN = 3;

export interface Verdict {
  /** Events x URLs due. */
  readonly pairs: number;
  /** Pairs not answered with 2xx. */
  readonly lost: number;
  /** Requests answered with 2xx after another request of their pair was. */
  readonly sentTwice: number;
  /** Requests with another webhook-id than their pair's first, or with another body than the published one. */
  readonly differing: number;
  /** Requests with an event that nobody published, or to a URL it was not for. */
  readonly unexpected: number;
}

export class Oracle {
  /** Of each pair the published body. */
  readonly #bodies = new Map<string, string>();
  readonly #due = new Set<string>();
  readonly #receiver: Receiver;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Each event is due to each URL. @param events NDJSON */
  due(events: string, urls: readonly string[]): void {
    for (const key of this.maybe(events, urls)) this.#due.add(key);
  }

  /** These events may arrive but need not: whether they were published is unknown. @returns their pairs */
  maybe(events: string, urls: readonly string[]): string[] {
    const bodies = events.split('\n').filter((line) => line !== '');
    return bodies.flatMap((body) =>
      urls.map((url) => {
        const key = keyOf(body, url);
        this.#bodies.set(key, this.#bodies.get(key) ?? body);
        return key;
      }),
    );
  }

  /** Waits until nothing is missing. */
  async nothingLost(timeout: number): Promise<void> {
    await eventually(() => this.#lost().length === 0, { timeout }).catch(() => {
      const lost = this.#lost();
      if (lost.length === 0) return;
      throw new Error(`${lost.length} of ${this.#bodies.size} were lost: ${lost.slice(0, SHOWN).join(', ')} ...`);
    });
  }

  verdict(): Verdict {
    const ids = new Map<string, unknown>();
    let [differing, unexpected] = [0, 0];
    for (const request of this.#receiver.requests) {
      const key = this.#keyOf(request);
      const body = this.#bodies.get(key);
      const id = request.headers['webhook-id'];
      ids.set(key, ids.get(key) ?? id);
      if (body === undefined) unexpected += 1;
      else if (ids.get(key) !== id || body !== request.body.toString()) differing += 1;
    }
    const taken = this.#receiver.taken.map((request) => this.#keyOf(request)).filter((key) => this.#bodies.has(key));
    const sentTwice = taken.length - new Set(taken).size;
    return { pairs: this.#due.size, lost: this.#lost().length, sentTwice, differing, unexpected };
  }

  /** Prints the counts, and appends them to the file FAULT_COUNTS, if set (bench/rows/kills.ts). @returns the counts */
  report(what: string): Verdict {
    const verdict = this.verdict();
    const { pairs, lost, sentTwice } = verdict;
    console.log(`${what}: ${JSON.stringify(verdict)}`);
    const file = process.env.FAULT_COUNTS;
    if (file) appendFileSync(file, `| ${what} | ${pairs} | ${lost} | ${sentTwice} |\n`);
    return verdict;
  }

  #lost(): string[] {
    const taken = new Set(this.#receiver.taken.map((request) => this.#keyOf(request)));
    return [...this.#due].filter((key) => !taken.has(key));
  }

  #keyOf({ body, path }: ReceivedRequest): string {
    return keyOf(body.toString(), this.#receiver.url + path);
  }
}

/** The event that a delivery is for, whatever else its body says. */
function keyOf(body: string, url: string): string {
  try {
    const { accountId, id } = JSON.parse(body) as { accountId: unknown; id: unknown };
    return `${accountId} ${id} ${url}`;
  } catch {
    return `not JSON ${url}`;
  }
}
