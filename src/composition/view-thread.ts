/** The thread of the deliveries view, which composition/api.ts starts: it reads its records and has its file. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { openDeliveriesView, openFormerView } from '../adapters/sqlite/view/deliveries-view.js';
import { serveView } from '../adapters/thread/served-view.js';
import { viewEntries } from '../delivery/log/view-entry.js';

export interface ViewThreadData {
  readonly dataDir: string;
  /** Bytes (DELIVERIES_VIEW_SIZE). */
  readonly size: number;
  readonly port: MessagePort;
}

const { dataDir, size, port } = workerData as ViewThreadData;
serveView(port, {
  openFormer: () => openFormerView(dataDir, size),
  open: (onDamaged) => openDeliveriesView(dataDir, onDamaged, size),
  entriesOf: viewEntries,
  now: () => performance.now(),
});
