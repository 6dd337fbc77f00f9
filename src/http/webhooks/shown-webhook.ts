/** A webhook as its account sees it. */
import type { Context } from 'koa';
import { headerPlace, type Sealing } from '../../secrets/sealing.js';
import type { SealedHeader } from '../../webhooks/events.js';
import type { Webhook } from '../../webhooks/state.js';
import { may } from '../request-context.js';
import { EVENT_TYPE, TIME } from '../shared-schemas.js';

export const WEBHOOK = {
  title: 'Webhook',
  description: 'A URL that receives the payment events of one type.',
  type: 'object',
  required: ['id', 'type', 'url', 'headers', 'isActive', 'createdAt'],
  properties: {
    id: { type: 'integer', description: 'The id of the webhook, unique in the service. It never changes.' },
    type: EVENT_TYPE,
    url: { type: 'string', format: 'uri', description: 'The URL, exactly as it was last given.' },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        'The headers that are sent with each event, by name. Empty if there are none. A session without the right `configure` gets each value as an empty text.',
    },
    isActive: { type: 'boolean', description: 'Whether events are sent to the URL.' },
    createdAt: { ...TIME, description: 'When the webhook was first registered.' },
    movedAt: { ...TIME, description: 'When its URL was last changed to another one. Absent if it never was.' },
  },
} as const;

const HIDDEN = { open: () => '' };

/** Values of headers are credentials of receivers: a session that can't set them gets empty ones. */
export function valuesFor(ctx: Pick<Context, 'state'>, values: Pick<Sealing, 'open'>): Pick<Sealing, 'open'> {
  return may(ctx, 'configure') ? values : HIDDEN;
}

/** @throws CannotOpen */
export function shownWebhook(accountId: number, webhook: Webhook, sealing: Pick<Sealing, 'open'>) {
  const { id, eventType, url, isActive, createdAt, movedAt } = webhook;
  const headers = openedHeaders(accountId, webhook.headers, sealing);
  return { id, type: eventType, url, headers, isActive, createdAt, ...(movedAt !== undefined && { movedAt }) };
}

/** By name, as they were given. @throws CannotOpen */
export function openedHeaders(accountId: number, headers: readonly SealedHeader[], { open }: Pick<Sealing, 'open'>) {
  return byName(headers.map(({ key, sealed }) => [key, open(sealed, headerPlace(accountId, key))]));
}

export function byName(headers: Iterable<readonly [name: string, value: string]>): Readonly<Record<string, string>> {
  // Without a prototype, __proto__ is an ordinary name.
  const named: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) named[name] = value;
  return named;
}
