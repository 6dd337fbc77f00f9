/**
 * A rejoin that fails ends the client, which then joins as a new member. kafkajs instead goes on fetching, in the generation
 * that it was about to leave and often with a member id that the group still knows: no event reports that, heartbeats are
 * answered, and the partitions are perhaps another member's. If the group had forgotten the member, it sends no heartbeats.
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
