/**
 * The timer of kafkajs' queue of requests. By itself kafkajs asks for one at minus now, again and again, for as long as a
 * connection that was used is open: a thousand a second, and newer versions of Node.js warn of the first one, in plain text
 * between the lines of the log. One is needed only while requests wait: each that is queued, answered or given up asks.
 */
import { RequestQueue, type RequestQueueState } from './kafkajs-internals.js';

/** As kafkajs has it: for what waits because too many are under way. */
const LOOK_EVERY_MS = 10;
let isInstalled = false;

/** For every client of kafkajs in this process, once. */
export function installQueueTimer(): void {
  if (isInstalled) return;
  isInstalled = true;
  RequestQueue.prototype.scheduleCheckPendingRequests = schedule;
}

function schedule(this: RequestQueueState): void {
  if (this.throttleCheckTimeoutId || this.pending.length === 0) return;
  const throttledMs = this.throttledUntil - Date.now();
  this.throttleCheckTimeoutId = setTimeout(
    () => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    },
    throttledMs > 0 ? throttledMs : LOOK_EVERY_MS,
  );
}
