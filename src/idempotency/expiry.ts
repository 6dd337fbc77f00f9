/** When the stream of an idempotency key is of no use any more: what it says is over, and the key as good as new. */
import type { NewEvent } from '../ports/event-store.js';
import { KEPT_MS } from './key-state.js';

export const KEY_STREAMS = 'idempotency-';
/** Clocks of several processes differ: as long as one of them may still go by a stream, it stays. */
const SLACK_MS = 3_600_000;
/** How long after its last event such a stream is over. */
export const KEY_STREAM_KEPT_MS = KEPT_MS + SLACK_MS;

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
