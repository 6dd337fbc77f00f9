/** Fills an account through the API until nothing more is taken: 21 active webhooks, 100 in all, 1 MiB together. */
import { request } from 'undici';
import {
  EVENT_TYPES,
  MAX_ACTIVE_PER_TYPE,
  MAX_HEADER_NAME_LENGTH,
  MAX_HEADER_VALUE_LENGTH,
  MAX_HEADERS,
  MAX_WEBHOOKS,
} from '../../src/webhooks/limits.js';

export interface ApiClient {
  readonly url: string;
  readonly token: string;
}

interface Listed {
  readonly id: number;
  readonly isActive: boolean;
}

const LARGEST_HEADERS = Array.from({ length: MAX_HEADERS }, (_, n) => ({
  key: `X-${n}-`.padEnd(MAX_HEADER_NAME_LENGTH, 'n'),
  value: 'v'.repeat(MAX_HEADER_VALUE_LENGTH),
}));

/** @returns its webhooks, as GET lists them */
export async function fillAccount(client: ApiClient, origin: string): Promise<readonly Listed[]> {
  let headers: typeof LARGEST_HEADERS = LARGEST_HEADERS;
  for (let n = 0; n < MAX_WEBHOOKS; n += 1) {
    const round = Math.floor(n / EVENT_TYPES.length);
    const eventType = EVENT_TYPES[n % EVENT_TYPES.length];
    const registration = { url: `${origin}/hostile/${round}`, eventType };
    const taken = await call(client, 'POST', '/api/webhooks', { ...registration, headers });
    if (taken.status !== 200) {
      // The rest of what it may hold is too little for the largest headers.
      headers = [];
      await mustBeTaken(call(client, 'POST', '/api/webhooks', registration));
    }
    if (n < MAX_WEBHOOKS - EVENT_TYPES.length * MAX_ACTIVE_PER_TYPE) await switchOffLast(client);
  }
  return list(client);
}

async function switchOffLast(client: ApiClient): Promise<void> {
  const last = (await list(client)).at(-1);
  await mustBeTaken(call(client, 'PATCH', `/api/webhooks/${last?.id}`, { isActive: false }));
}

async function list(client: ApiClient): Promise<readonly Listed[]> {
  const { text } = await mustBeTaken(call(client, 'GET', '/api/webhooks'));
  return (JSON.parse(text) as { webhooks: Listed[] }).webhooks;
}

async function mustBeTaken<T extends { status: number; text: string }>(answer: Promise<T>): Promise<T> {
  const taken = await answer;
  if (taken.status !== 200) throw new Error(`answered ${taken.status}: ${taken.text}`);
  return taken;
}

async function call({ url, token }: ApiClient, method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) {
  const { statusCode, body: answer } = await request(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: statusCode, text: await answer.text() };
}
