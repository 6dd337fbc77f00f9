/**
 * Earlier releases wrote one stream per idempotency key. Nothing reads these streams any more, and expired ones are
 * swept.
 */
import type { NewEvent } from '../ports/event-store.js';

export const KEY_STREAMS = 'idempotency-';
/** Lifetime after the last event: a process of an earlier release may still rely on the stream. */
const KEY_STREAM_KEPT_MS = 25 * 3_600_000;

/** @param last the stream's last event; an event of an unknown type never expires */
export function isKeyOver({ type, data }: Pick<NewEvent, 'type' | 'data'>, now: number): boolean {
  const at = timeOf(type, data);
  return typeof at === 'string' && now - Date.parse(at) >= KEY_STREAM_KEPT_MS;
}

function timeOf(type: string, data: NewEvent['data']): unknown {
  switch (type) {
    case 'IdempotencyKeyUsed':
      return data.usedAt;
    case 'IdempotentAnswerKept':
      return data.answeredAt;
    case 'IdempotencyKeyReleased':
      return data.releasedAt;
    default:
      return undefined;
  }
}
