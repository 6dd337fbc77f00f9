/** Fills an account through the API until nothing more is taken: 21 active webhooks, 100 in all, 1 MiB together. */
import {
  EVENT_TYPES,
  MAX_ACTIVE_PER_TYPE,
  MAX_HEADER_NAME_LENGTH,
  MAX_HEADER_VALUE_LENGTH,
  MAX_HEADERS,
  MAX_WEBHOOKS,
} from '../../src/webhooks/limits.js';
import type { Ask } from './api-client.js';

interface Listed {
  readonly id: number;
  readonly isActive: boolean;
}

const LARGEST_HEADERS = Array.from({ length: MAX_HEADERS }, (_, n) => ({
  key: `X-${n}-`.padEnd(MAX_HEADER_NAME_LENGTH, 'n'),
  value: 'v'.repeat(MAX_HEADER_VALUE_LENGTH),
}));

/** @returns its webhooks, as GET lists them */
export async function fillAccount(ask: Ask, origin: string): Promise<readonly Listed[]> {
  const list = async () => (await ask<{ webhooks: Listed[] }>('/api/webhooks')).webhooks;
  let headers: typeof LARGEST_HEADERS = LARGEST_HEADERS;
  for (let n = 0; n < MAX_WEBHOOKS; n += 1) {
    const round = Math.floor(n / EVENT_TYPES.length);
    const registration = { url: `${origin}/hostile/${round}`, eventType: EVENT_TYPES[n % EVENT_TYPES.length] };
    await ask('/api/webhooks', { ...registration, headers }).catch(() => {
      // The rest of what it may hold is too little for the largest headers.
      headers = [];
      return ask('/api/webhooks', registration);
    });
    if (n >= MAX_WEBHOOKS - EVENT_TYPES.length * MAX_ACTIVE_PER_TYPE) continue;
    await ask(`/api/webhooks/${(await list()).at(-1)?.id}`, { isActive: false }, 'PATCH');
  }
  return list();
}
