/**
 * Webhook ids: small, unique across the service, the same after every replay (the events contain them). Hi/lo:
 * appending to a dedicated stream with an expected revision reserves a block of ids. Revision n is the block n * BLOCK
 * + 1 ... (n + 1) * BLOCK, so no two processes get the same block. Unused ids of a block are lost when the process
 * ends.
 */
import { type EventStore, NO_STREAM, WrongExpectedRevision } from '../ports/event-store.js';

const STREAM = 'webhook-ids';
const BLOCK = 100;

export interface WebhookIds {
  /** @throws StoreUnavailable */
  take(): Promise<number>;
  giveBack(id: number): void;
}

export function createWebhookIds(store: EventStore, newEventId: () => string): WebhookIds {
  const free: number[] = [];
  let last = NO_STREAM;
  let reserving: Promise<void> | null = null;

  async function reserve(): Promise<void> {
    const data = { firstId: (last + 1) * BLOCK + 1, size: BLOCK };
    const event = { id: newEventId(), type: 'WebhookIdsReserved', data, metadata: {} };
    try {
      last = (await store.append(STREAM, [event], last)).revision;
      for (let id = data.firstId + BLOCK - 1; id >= data.firstId; id -= 1) free.push(id);
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      last = error.actual;
    }
  }

  return {
    async take() {
      for (;;) {
        const id = free.pop();
        if (id !== undefined) return id;
        reserving ??= reserve().finally(() => {
          reserving = null;
        });
        await reserving;
      }
    },
    giveBack: (id) => void free.push(id),
  };
}
