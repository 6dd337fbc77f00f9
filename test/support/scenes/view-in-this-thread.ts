/** The deliveries view as the service opens it, except that it works in the thread of the test. */
import { MessageChannel } from 'node:worker_threads';
import { openDeliveriesView } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import { type ServedViewParts, serveView } from '../../../src/adapters/thread/served-view.js';
import { openThreadedView, type ThreadedViewParts } from '../../../src/adapters/thread/threaded-view.js';
import { viewEntries } from '../../../src/delivery/log/view-entry.js';
import type { DeliveriesView } from '../../../src/ports/deliveries-view.js';
import { VIEW_SIZE } from './deliveries-view-subject.js';

export function viewInThisThread(
  dataDir: string,
  own: Partial<ThreadedViewParts> = {},
  its: Partial<ServedViewParts> = {},
): Promise<DeliveriesView> {
  const { port1, port2 } = new MessageChannel();
  serveView(port2, {
    openFormer: () => null,
    open: (onDamaged) => openDeliveriesView(dataDir, onDamaged, VIEW_SIZE),
    entriesOf: viewEntries,
    now: () => performance.now(),
    ...its,
  });
  const nothing = { webhookIds: () => null, took: () => undefined, onDamaged: () => undefined };
  return openThreadedView(port1, { ...nothing, ...own });
}
