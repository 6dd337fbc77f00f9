/** An account or a publisher as a client of the API. */
import type { IssuedCredential } from '../../../src/accounts/registration.js';
import { expectDocumented } from './documented.js';

export interface Answer<B = AnswerBody> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: B;
}

interface AnswerBody {
  readonly success?: boolean;
  readonly message: string;
  readonly accepted?: number;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

interface ListedWebhook {
  readonly id: number;
  readonly type: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isActive: boolean;
  readonly createdAt: string;
}

export interface Listing {
  readonly accountId: number;
  readonly webhooks: readonly ListedWebhook[];
  readonly total: number;
}

/** `json` is sent with its media type; `bytes` as they are, with the headers that are given. */
export interface Given {
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: string | Buffer;
}

export type Credential = Pick<IssuedCredential, 'clientId' | 'clientSecret'>;

/** An account, or a publisher, with a token. Every response is validated against /openapi.json. */
export class Client<C extends Credential = IssuedCredential> {
  constructor(
    readonly url: string,
    readonly credential: C,
    readonly token: string,
  ) {}

  /** The same caller, at another process. */
  at(url: string): Client<C> {
    return new Client(url, this.credential, this.token);
  }

  /** POST /api/webhooks; text and bytes are sent unchanged, anything else as JSON. */
  post(body: unknown, headers: Given['headers'] = {}): Promise<Answer> {
    const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return this.send('POST', '/api/webhooks', { headers: { 'content-type': 'application/json', ...headers }, bytes });
  }

  /** POST /api/payment-events; text and bytes are sent unchanged. @param to a query, as `?topic=x` */
  publish(
    bytes: string | Buffer,
    type = 'application/json',
    { headers = {}, to = '' }: { headers?: Given['headers']; to?: string } = {},
  ): Promise<Answer> {
    return this.send('POST', `/api/payment-events${to}`, { headers: { 'content-type': type, ...headers }, bytes });
  }

  /** PATCH /api/webhooks/{id}, with bodies like `post`. */
  patch(id: number | string, body: unknown, headers: Given['headers'] = {}): Promise<Answer> {
    const bytes = typeof body === 'string' ? body : JSON.stringify(body);
    const all = { 'content-type': 'application/json', ...headers };
    return this.send('PATCH', `/api/webhooks/${id}`, { headers: all, bytes });
  }

  /** DELETE /api/webhooks/{id}. */
  remove(id: number | string): Promise<Answer> {
    return this.send('DELETE', `/api/webhooks/${id}`);
  }

  /** GET /api/webhooks; expects 200. */
  async list(): Promise<Listing> {
    const { status, body } = await this.send<Listing>('GET', '/api/webhooks');
    if (status !== 200) throw new Error(`GET /api/webhooks answered ${status}`);
    return body;
  }

  send<B = AnswerBody>(method: string, path: string, given: Given = {}): Promise<Answer<B>> {
    const headers = { authorization: `Bearer ${this.token}`, ...given.headers };
    return request(this.url, method, path, { ...given, headers });
  }
}

/** As who the headers say. */
export async function request<B = AnswerBody>(
  url: string,
  method: string,
  path: string,
  { headers = {}, json, bytes }: Given = {},
): Promise<Answer<B>> {
  const typed = json === undefined ? headers : { 'content-type': 'application/json', ...headers };
  const body = json === undefined ? (bytes ?? null) : JSON.stringify(json);
  const response = await fetch(url + path, { method, headers: typed, body });
  const text = await response.text();
  const answer = { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  await expectDocumented(url, { method, path, ...answer });
  return answer;
}
