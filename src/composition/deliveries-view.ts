/** Opens the deliveries view in a thread of its own. */
import { MessageChannel, Worker } from 'node:worker_threads';
import { openThreadedView, type ThreadedViewParts } from '../adapters/thread/threaded-view.js';
import type { Logger } from '../observability/logger.js';
import type { DeliveriesView } from '../ports/deliveries-view.js';
import type { Config } from '../settings/read-config.js';
import type { ViewThreadData } from './view-thread.js';

/** @throws ViewRefused, ViewEnded */
export function openDeliveriesView(
  { DATA_DIR: dataDir, DELIVERIES_VIEW_SIZE: size }: Pick<Config, 'DATA_DIR' | 'DELIVERIES_VIEW_SIZE'>,
  logger: Logger,
  parts: Omit<ThreadedViewParts, 'onDamaged'>,
): Promise<DeliveriesView> {
  const { port1: own, port2: port } = new MessageChannel();
  const thread = new Worker(new URL(import.meta.resolve('./view-thread.js')), {
    workerData: { dataDir, size, port } satisfies ViewThreadData,
    transferList: [port],
  });
  thread.on('error', (err) => logger.error({ err }, 'the thread of the deliveries view has failed'));
  const onDamaged = (file: string) =>
    logger.warn({ file }, 'the deliveries view is damaged or from another release: rebuilding it');
  return openThreadedView(own, { ...parts, onDamaged });
}
