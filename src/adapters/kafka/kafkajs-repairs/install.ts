/** The repairs of all kafkajs clients in this process: each replaces a function of kafkajs. See README.md. */
import kafkajs from 'kafkajs';
import { installFetchDecoding } from '../fetched/fetch-response.js';
import { isUnknownTopic } from '../kafka-errors.js';
import {
  Connection,
  type ConnectionState,
  ConsumerGroup,
  offsetCommitProtocol,
  RequestQueue,
  type RequestQueueState,
} from './kafkajs-internals.js';

/** kafkajs's own value: for requests that wait because too many are in progress. */
const LOOK_EVERY_MS = 10;
/** For requests without an answer, in the time they have. kafkajs looks each 100 ms: an idle service 125 times a second. */
const LOOKS = 10;
let isInstalled = false;

export function installRepairs(): void {
  if (isInstalled) return;
  isInstalled = true;
  installFetchDecoding();
  failCommitsOfLostTopics();
  endClientsAfterFailedJoins();
  RequestQueue.prototype.scheduleCheckPendingRequests = schedule;
  RequestQueue.prototype.scheduleRequestTimeoutCheck = scheduleTimeouts;
  shareConnects();
}

/** At once: kafkajs would repeat a commit for seconds, and a topic recreated meanwhile would get the old one's offsets. */
function failCommitsOfLostTopics(): void {
  const { protocol } = offsetCommitProtocol;
  const failed = (error: Error) => {
    throw isUnknownTopic(error) ? Object.assign(error, { retriable: false }) : error;
  };
  offsetCommitProtocol.protocol = ({ version }) => {
    const call = protocol({ version });
    if (!call) return call;
    return (parameters) => {
      const made = call(parameters);
      const parse = (decoded: unknown) => made.response.parse(decoded).catch(failed);
      return { ...made, response: { ...made.response, parse } };
    };
  };
}

/**
 * By an error that kafkajs must not retry; it restarts the client as a new member if the cause may pass. Else kafkajs goes on
 * fetching with the former assignment, with or without heartbeats, and the partitions are perhaps another member's.
 */
function endClientsAfterFailedJoins(): void {
  const join = ConsumerGroup.prototype.joinAndSync;
  ConsumerGroup.prototype.joinAndSync = function () {
    return join.call(this).catch((cause: Error) => {
      throw Object.assign(new kafkajs.KafkaJSNonRetriableError(cause), { cause });
    });
  };
}

/** The timer of a request queue, needed only while requests wait: set whenever one is queued, answered or given up. */
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

function scheduleTimeouts(this: RequestQueueState): void {
  if (!this.enforceRequestTimeout) return;
  this.destroy();
  const look = () => {
    for (const request of this.inflight.values()) {
      if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest();
    }
    if (!this.isConnected()) this.destroy();
  };
  this.requestTimeoutIntervalId = setInterval(look, this.requestTimeout / LOOKS);
}

/**
 * The requests of one moment share one attempt to connect. In kafkajs each opens a socket; when the broker closes one of the
 * unused ones, kafkajs ends the connection that works, with its requests.
 */
function shareConnects(): void {
  const { connect, disconnect } = Connection.prototype;
  const connecting = new WeakMap<ConnectionState, Promise<true>>();
  Connection.prototype.connect = function (this: ConnectionState) {
    const shared = connecting.get(this);
    if (shared) return shared;
    const begun = connect.call(this).finally(() => {
      if (connecting.get(this) === begun) connecting.delete(this);
    });
    connecting.set(this, begun);
    return begun;
  };
  Connection.prototype.disconnect = function (this: ConnectionState) {
    // What connects afterwards does not wait for what was ended.
    connecting.delete(this);
    return disconnect.call(this);
  };
}
