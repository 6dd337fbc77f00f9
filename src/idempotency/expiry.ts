/**
 * Streams of idempotency keys, one for each, are of earlier releases: nothing reads them, and they are swept where what
 * they say is over.
 */
import type { NewEvent } from '../ports/event-store.js';

export const KEY_STREAMS = 'idempotency-';
/** How long after its last event such a stream is over: a process of an earlier release may still go by it. */
const KEY_STREAM_KEPT_MS = 25 * 3_600_000;

/** @param last the stream's last event; of one that is not known here, nothing is known to be over */
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
