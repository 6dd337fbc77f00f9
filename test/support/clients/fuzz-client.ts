/**
 * Sends fuzzed requests over kept-alive connections, validates every response against the document, and counts the
 * responses.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { FuzzedRequest } from '../generators/fuzzed-requests.js';
import { CONTEXT } from '../generators/webhook-samples.js';
import { type RunningApi, tokenFor } from '../scenes/api-fixture.js';
import type { Client, Listing } from './api-client.js';
import { expectDocumented } from './documented.js';

const CONNECTIONS = 16;
const PATIENCE_MS = 10_000;

interface FuzzAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class FuzzClient {
  readonly #api: RunningApi;
  readonly #clients: readonly Client[];
  readonly #revoked: string;
  readonly #publisher: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  /** The webhooks of each account, by its latest list. */
  readonly #ids: number[][];
  /** operationId -> status -> count */
  readonly tally: Record<string, Record<number, number>> = {};

  private constructor(api: RunningApi, clients: readonly Client[], revoked: string, publisher: string) {
    this.#api = api;
    this.#clients = clients;
    this.#revoked = revoked;
    this.#publisher = publisher;
    this.#ids = clients.map(() => []);
  }

  /** @param accounts number of accounts to register, from 1 on */
  static async open(api: RunningApi, accounts: number): Promise<FuzzClient> {
    const clients: Client[] = [];
    for (let accountId = 1; accountId <= accounts; accountId += 1) clients.push(await api.account(accountId));
    const credential = await api.registration.issueCredential(1, CONTEXT);
    const revoked = await tokenFor(api.url, credential);
    await api.registration.revokeCredential(credential.clientId, CONTEXT);
    return new FuzzClient(api, clients, revoked, (await api.publisher('fuzz')).token);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Each account's list. */
  listings(): Promise<Listing[]> {
    return Promise.all(this.#clients.map((client) => client.list()));
  }

  /** @throws for a response that violates the document, with the request as sent */
  async send(given: FuzzedRequest): Promise<void> {
    const sent = this.#filled(given);
    try {
      const answer = await this.#exchange(sent);
      const counts = this.tally[sent.operationId] ?? {};
      this.tally[sent.operationId] = { ...counts, [answer.status]: (counts[answer.status] ?? 0) + 1 };
      await this.#check(sent, answer);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${shown(sent)}`, { cause: error });
    }
  }

  #filled(given: FuzzedRequest): FuzzedRequest {
    const fill = (text: string) =>
      text.replace(/__([A-Z]+)(\d*)__/g, (place, name, digits) => {
        return this.#place(given.as, name, Number(digits)) ?? place;
      });
    const body = given.body === null ? null : fill(given.body);
    const own = given.headers.some(([name]) => name === 'Host') ? [] : [['Host', '127.0.0.1'] as const];
    const length = body === null ? [] : [['Content-Length', String(body.length)] as const];
    const headers = given.headers.map(([name, value]) => [name, fill(value)] as const);
    return { ...given, target: fill(given.target), headers: [...own, ...headers, ...length], body };
  }

  #place(as: number, name: string, index: number): string | undefined {
    const client = this.#clients[as];
    if (!client) throw new Error(`there is no account ${as}`);
    const { clientId, clientSecret } = client.credential;
    const own = this.#ids[as] ?? [];
    const foreign = this.#ids[(as + 1) % this.#ids.length] ?? [];
    const places: Record<string, string> = {
      TOKEN: client.token,
      REVOKED: this.#revoked,
      PUBLISHER: this.#publisher,
      CLIENT: clientId,
      SECRET: clientSecret,
      BASIC: Buffer.from(`${clientId}:${clientSecret}`).toString('base64'),
      ID: String(own[index % Math.max(1, own.length)] ?? 1),
      FOREIGN: String(foreign[0] ?? 1),
    };
    return places[name];
  }

  #exchange({ method, target, headers, body }: FuzzedRequest): Promise<FuzzAnswer> {
    return new Promise((resolve, reject) => {
      const { port } = this.#api;
      const options = { host: '127.0.0.1', port, agent: this.#agent, method, path: target, timeout: PATIENCE_MS };
      const request = httpRequest({ ...options, headers: headers as never }, (response) => {
        answerOf(response).then(resolve, reject);
      });
      request.on('timeout', () => request.destroy(new Error('there was no answer')));
      request.on('error', reject);
      request.end(body === null ? undefined : Buffer.from(body, 'latin1'));
    });
  }

  async #check(
    { method, target: path, as }: FuzzedRequest,
    { status, headers, text: body }: FuzzAnswer,
  ): Promise<void> {
    if (status >= 500) throw new Error(`${method} ${path} answered ${status} ${body}`);
    const answer = status === 304 ? null : JSON.parse(body);
    await expectDocumented(this.#api.url, { method, path, status, headers, body: answer });
    if (method === 'GET' && status === 200 && 'accountId' in answer)
      this.#ids[as] = (answer as Listing).webhooks.map(({ id }) => id);
  }
}

async function answerOf(response: IncomingMessage): Promise<FuzzAnswer> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
  return { status: response.statusCode ?? 0, headers, text: await text(response) };
}

function shown({ method, target, headers, body }: FuzzedRequest): string {
  const lines = headers.map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [`${method} ${target}`, ...lines, '', JSON.stringify(body?.slice(0, 4_000) ?? null)].join('\n');
}
