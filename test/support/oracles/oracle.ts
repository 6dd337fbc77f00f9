/**
 * Compares published events with receivers' requests: each event must reach each URL it is due to, with the published
 * body, under one webhook-id. Tell it about events before they are published; ask it at any time.
 */
import { eventually } from '../eventually.js';
import type { ReceivedRequest, Receiver } from '../servers/receiver.js';
import { reportCounts } from './fault-counts.js';

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

interface Pair {
  readonly body: string;
  due: boolean;
  webhookId: string | undefined;
  taken: number;
}

export class Oracle {
  readonly #pairs = new Map<string, Pair>();
  readonly #sources: readonly { readonly receiver: Receiver; requests: number; taken: number }[];
  #due = 0;
  #lost = 0;
  #sentTwice = 0;
  #differing = 0;
  #unexpected = 0;

  constructor(receivers: readonly Receiver[]) {
    this.#sources = receivers.map((receiver) => ({ receiver, requests: 0, taken: 0 }));
  }

  /** Each event is due to each URL. @param events NDJSON */
  due(events: string, urls: readonly string[]): void {
    this.maybe(events, urls);
    for (const pair of this.#named(events, urls)) {
      if (pair.due) continue;
      pair.due = true;
      this.#due += 1;
      if (pair.taken === 0) this.#lost += 1;
    }
  }

  /** These events may arrive but need not: whether they were published is unknown. */
  maybe(events: string, urls: readonly string[]): void {
    for (const [key, body] of pairsOf(events, urls)) {
      if (!this.#pairs.has(key)) this.#pairs.set(key, { body, due: false, webhookId: undefined, taken: 0 });
    }
  }

  /** Waits until nothing is missing. */
  async nothingLost(timeout: number): Promise<void> {
    await eventually(() => this.verdict().lost === 0, { timeout }).catch(() => {
      const lost = [...this.#pairs].filter(([, { due, taken }]) => due && taken === 0).map(([key]) => key);
      if (lost.length === 0) return;
      throw new Error(`${lost.length} of ${this.#pairs.size} were lost: ${lost.slice(0, SHOWN).join(', ')} ...`);
    });
  }

  verdict(): Verdict {
    for (const source of this.#sources) {
      const { url, requests, taken } = source.receiver;
      for (; source.requests < requests.length; source.requests += 1) this.#came(url, requests[source.requests]);
      for (; source.taken < taken.length; source.taken += 1) this.#taken(url, taken[source.taken]);
    }
    const [pairs, lost, sentTwice] = [this.#due, this.#lost, this.#sentTwice];
    return { pairs, lost, sentTwice, differing: this.#differing, unexpected: this.#unexpected };
  }

  /** Prints the counts as one line. @returns the counts */
  report(what: string): Verdict {
    const verdict = this.verdict();
    reportCounts({ what, ...verdict }, `, differing ${verdict.differing}, unexpected ${verdict.unexpected}`);
    return verdict;
  }

  #came(url: string, request: ReceivedRequest | undefined): void {
    const pair = this.#pairOf(url, request);
    if (!pair || !request) {
      this.#unexpected += 1;
      return;
    }
    const webhookId = String(request.headers['webhook-id']);
    pair.webhookId ??= webhookId;
    if (pair.webhookId !== webhookId || pair.body !== request.body.toString()) this.#differing += 1;
  }

  #taken(url: string, request: ReceivedRequest | undefined): void {
    const pair = this.#pairOf(url, request);
    if (!pair) return;
    pair.taken += 1;
    if (pair.taken > 1) this.#sentTwice += 1;
    else if (pair.due) this.#lost -= 1;
  }

  #pairOf(url: string, request: ReceivedRequest | undefined): Pair | undefined {
    return this.#pairs.get(keyOf(request?.body.toString() ?? '', url + request?.path));
  }

  #named(events: string, urls: readonly string[]): Pair[] {
    return pairsOf(events, urls).flatMap(([key]) => this.#pairs.get(key) ?? []);
  }
}

function pairsOf(events: string, urls: readonly string[]): (readonly [key: string, body: string])[] {
  const bodies = events.split('\n').filter((line) => line !== '');
  return bodies.flatMap((body) => urls.map((url) => [keyOf(body, url), body] as const));
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
