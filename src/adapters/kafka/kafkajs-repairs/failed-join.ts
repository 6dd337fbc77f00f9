/**
 * A rejoin that fails ends the client, which then joins as a new member. kafkajs instead goes on fetching, with the former
 * assignment: no event reports that. If only the answer with the new assignment was lost, the group answers its heartbeats,
 * and the partitions are perhaps another member's; if the group had forgotten the member, it sends none.
 */
import kafkajs from 'kafkajs';
import { ConsumerGroup } from './kafkajs-internals.js';

let isInstalled = false;

/** For every client of kafkajs in this process, once. */
export function installFailedJoins(): void {
  if (isInstalled) return;
  isInstalled = true;
  const join = ConsumerGroup.prototype.joinAndSync;
  ConsumerGroup.prototype.joinAndSync = function () {
    return join.call(this).catch(ended);
  };
}

/** kafkajs ends a client by an error that it must not retry, and restarts the client if the cause may pass. */
function ended(cause: Error): never {
  throw Object.assign(new kafkajs.KafkaJSNonRetriableError(cause), { cause });
}
