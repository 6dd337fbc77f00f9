/** Requests to the API with secrets: those of a webhook's life, and every kind of refused request. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { PlantedSecrets } from '../oracles/planted-secrets.js';
import type { Said } from '../scenes/planted-installation.js';
import { rawRequest } from './raw-request.js';

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** These answer an account with a secret of its own. */
const SHOWS = [
  'GET /api/webhooks',
  'POST /api/webhooks',
  'POST /api/signing-secrets',
  'POST /api/portal-sessions',
  'POST /console/session',
];
/** The answer of the account's own receiver, which may echo the headers of the request. */
const SHOWS_ITS_RECEIVER = /^POST \/api\/webhooks\/\d+\/test$/;

/** A client of the API that keeps every response, except those that show an account its own secrets. */
export class PlantedClient {
  readonly answers: Said[] = [];
  readonly #url: string;
  readonly #token: string | null;

  /** @param token null: no Authorization header */
  constructor(url: string, token: string | null) {
    this.#url = url;
    this.#token = token;
  }

  async ask({ method = 'POST', path = '/api/webhooks', headers = {}, body }: Asked): Promise<Answered> {
    const own = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
    const response = await fetch(this.#url + path, {
      method,
      headers: { ...own, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const asked = `${method} ${path}`;
    const shows = response.ok && (SHOWS.includes(asked) || SHOWS_ITS_RECEIVER.test(asked));
    const where = `answer to ${method} ${path.split('?')[0]}: ${response.status}`;
    if (!shows) this.answers.push({ where, text: JSON.stringify([...response.headers]) + text });
    return { status: response.status, headers: response.headers, text };
  }

  /** Malformed as no HTTP client would send it: the head ends in nonsense; the connection breaks within the body. */
  async breakOff(secret: string): Promise<void> {
    const port = Number(new URL(this.#url).port);
    const head = `POST /api/webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n`;
    const { status, body } = await rawRequest(port, `${head}no header\r\n\r\n`);
    this.answers.push({ where: `answer to nonsense: ${status}`, text: body });
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    const good = head.replace(secret, String(this.#token));
    socket.write(`${good}Content-Type: application/json\r\nContent-Length: 999\r\n\r\n{"headers":"${secret}`);
    await new Promise<void>((resolve) => socket.end(() => resolve()));
    socket.destroy();
  }
}

type Refused = readonly [status: number, what: string, asked: (secret: string) => Asked];

const GOOD = { url: 'https://localhost/refused', eventType: 'cash_in' };
const headersOf = (...headers: readonly unknown[]) => ({ body: { ...GOOD, headers } });
const urlOf = (url: string) => ({ body: { ...GOOD, url } });
const anonymous = { headers: { authorization: '' } };
const escaped = encodeURIComponent;
const at = (path: string, more: Asked = {}) => ({ path, ...more });
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const grant = 'grant_type=client_credentials';
const CLIENT = 'acct_42_0123456789abcdef';
const asking = (body: string, authorization = '') => at('/oauth/token', { headers: { ...form, authorization }, body });
const basic = (secret: string) => `Basic ${Buffer.from(`${CLIENT}:${secret}`).toString('base64')}`;

const REFUSED: readonly Refused[] = [
  [400, 'a blocked name', (value) => headersOf({ key: 'Host', value })],
  [400, 'a line end in a value', (value) => headersOf({ key: 'X-A', value: `${value}\r\nX-B: b` })],
  [400, 'a value that is no string', (secret) => headersOf({ key: 'X-A', value: { secret } })],
  [400, 'two of a name', (value) => headersOf({ key: 'X-A', value }, { key: 'x-a', value })],
  [400, 'http', (secret) => urlOf(`http://localhost/${escaped(secret)}`)],
  [400, 'user and password in the URL', (secret) => urlOf(`https://user:${escaped(secret)}@localhost/`)],
  [400, 'an unknown type', (secret) => ({ body: { ...GOOD, eventType: secret } })],
  [400, 'no JSON', (secret) => ({ body: `{"headers":[{"key":"X-A","value":"${secret}"}],}` })],
  [413, 'a long body', (secret) => ({ body: `{"url":"${secret}${' '.repeat(65_536)}"}` })],
  [415, 'no media type of ours', (secret) => ({ body: secret, headers: { 'content-type': 'text/plain' } })],
  [401, 'an unknown token', (secret) => ({ headers: { authorization: `Bearer ${secret}` } })],
  [401, 'a token in the query', (secret) => at(`/api/webhooks?access_token=${escaped(secret)}`, anonymous)],
  [404, 'an unknown path', (secret) => at(`/api/${escaped(secret)}`)],
  [400, 'a cursor', (secret) => at(`/api/webhooks/1/deliveries?before=${escaped(secret)}`, { method: 'GET' })],
  [400, 'a long key', (secret) => ({ ...urlOf(GOOD.url), headers: { 'idempotency-key': secret.repeat(9) } })],
  [401, 'an unknown client', (secret) => asking(grant, basic(secret))],
  [
    401,
    'an unknown client in the form',
    (secret) => asking(`${grant}&client_id=${CLIENT}&client_secret=${escaped(secret)}`),
  ],
];

/** @returns the unexpected responses */
export async function sendRefused(client: PlantedClient, secrets: PlantedSecrets): Promise<string[]> {
  const wrong: string[] = [];
  for (const [status, what, asked] of REFUSED) {
    const answered = await client.ask(asked(secrets.plantValue(what)));
    if (answered.status !== status) wrong.push(`${what}: ${answered.status} ${answered.text}`);
  }
  await client.breakOff(secrets.plant('a token that broke off'));
  return wrong;
}
