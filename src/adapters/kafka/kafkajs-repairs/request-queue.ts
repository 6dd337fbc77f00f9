/**
 * The timer of kafkajs's request queue. By default kafkajs keeps setting a timer with a negative delay for as long as a used
 * connection is open: a thousand a second, and newer Node.js versions warn about the first one, in plain text between the
 * log lines. A timer is needed only while requests wait: so it is set whenever one is queued, answered or given up.
 */
import { RequestQueue, type RequestQueueState } from './kafkajs-internals.js';

/** kafkajs's own value: for requests that wait because too many are in progress. */
const LOOK_EVERY_MS = 10;
let isInstalled = false;

/** For every kafkajs client in this process, once. */
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
