/** What a response to an activation adds to its message if deliveries are held for the webhook. */
import type { Requester } from '../../limits/user-limits.js';
import type { ApiParts } from '../api-parts.js';
import { deliveryCounts } from './show-webhook.js';

/** @returns the end of a message, empty if nothing is held or the list of deliveries is being rebuilt */
export async function describeHeld(
  parts: Pick<ApiParts, 'view'>,
  requester: Requester,
  webhookIds: readonly number[],
): Promise<string> {
  const counts = await Promise.all(webhookIds.map((id) => deliveryCounts(parts, requester, id)));
  const held = counts.reduce((sum, one) => sum + (one?.held ?? 0), 0);
  if (held === 0) return '';
  const deliveries = held === 1 ? '1 delivery is' : `${held.toLocaleString('en-US')} deliveries are`;
  return `; ${deliveries} held: POST /api/recoveries sends ${held === 1 ? 'it' : 'them'}`;
}
