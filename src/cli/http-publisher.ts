/** Publishes through a running service, with a publisher's credentials. */
import { setTimeout as delay } from 'node:timers/promises';
import type { NewRecord } from '../ports/broker.js';
import { ask, RequestFailed } from './service-client.js';
import { type Credentials, requestToken } from './token.js';

const UNAUTHORIZED = 401;

export class HttpPublisher {
  readonly #url: string;
  readonly #credentials: Credentials;
  readonly #path: string;
  #token: string | null = null;
  /** Once there was a token, the URL is right. */
  #hadToken = false;

  readonly #warn: (message: string) => unknown;

  /** @param topic undefined: the service's default */
  constructor(
    url: string,
    credentials: Credentials,
    topic?: string,
    warn: (message: string) => unknown = () => undefined,
  ) {
    this.#url = url;
    this.#credentials = credentials;
    this.#path = `/api/payment-events${topic === undefined ? '' : `?topic=${encodeURIComponent(topic)}`}`;
    this.#warn = warn;
  }

  /** @throws CommandFailed */
  async publish(records: readonly NewRecord[]): Promise<void> {
    const newline = Buffer.from('\n');
    const body = Buffer.concat(records.flatMap(({ value }) => (value ? [value, newline] : [])));
    for (let told = ''; ; ) {
      try {
        return await this.#post(body);
      } catch (error) {
        if (!(error instanceof RequestFailed) || !this.#mayTryAgain(error)) throw error;
        if (told !== error.message) await this.#warn(`${error.message}: trying again until the service takes them`);
        told = error.message;
        await delay(error.retryAfterSeconds * 1_000);
      }
    }
  }

  async #post(body: Buffer): Promise<void> {
    this.#token ??= (await requestToken(this.#url, this.#credentials)).access_token;
    this.#hadToken = true;
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/x-ndjson' };
    await ask(this.#url, { method: 'POST', path: this.#path, headers, body });
  }

  /** Without an answer some of the events may be published: publishing them again is safe. */
  #mayTryAgain({ status, passes }: RequestFailed): boolean {
    if (status !== UNAUTHORIZED) return passes && (this.#hadToken || status !== null);
    // It has expired, or its credential was revoked: then there is no other.
    const isExpired = this.#token !== null;
    this.#token = null;
    return isExpired;
  }
}
