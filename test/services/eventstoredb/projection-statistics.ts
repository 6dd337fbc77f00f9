/** The status of one projection, or of all. */
import type { StatisticsReq, StatisticsResp } from '@eventstore/db-client/generated/projections_pb.js';
import { type handleServerStreamingCall, status } from '@grpc/grpc-js';
import { answering, type Context, goneWith, notReady, RpcError } from './calls.js';
import { projections as messages } from './messages.js';
import type { ProjectionRunner } from './projection-runner.js';
import type { StoredProjection } from './stored-data.js';

export function statisticsHandler(
  { data, faults }: Context,
  runner: ProjectionRunner,
): handleServerStreamingCall<StatisticsReq, StatisticsResp> {
  return (call) =>
    answering(call, goneWith(call), async () => {
      if (faults.isNotReady) throw notReady();
      const name = call.request.getOptions()?.getName();
      const asked = [...data.projections].filter(([each]) => !name || each === name);
      if (name && asked.length === 0) {
        throw new RpcError(status.UNKNOWN, 'Envelope callback expected Statistics, received NotFound instead');
      }
      // One that does not compile spoils the list for all.
      if (asked.some(([each, projection]) => runner.programOf(each, projection) === 'does not compile')) {
        throw new RpcError(status.UNKNOWN, 'Exception was thrown by handler. ArgumentNullException');
      }
      for (const [each, projection] of asked) {
        call.write(new messages.StatisticsResp().setDetails(details(each, projection, data.log.length)));
      }
    });
}

function details(name: string, projection: StoredProjection, all: number): StatisticsResp.Details {
  const { fault, seen, epoch, states } = projection;
  return new messages.StatisticsResp.Details()
    .setName(name)
    .setEffectivename(name)
    .setMode('Continuous')
    .setStatus(statusOf(projection))
    .setStatereason(fault ?? '')
    .setProgress((seen / all) * 100)
    .setPartitionscached(states.size)
    .setPosition(`C:${seen}/P:${seen}`)
    .setEventsprocessedafterrestart(`${seen}`)
    .setEpoch(`${epoch}`)
    .setVersion(`${epoch}`)
    .setCoreprocessingtime('0')
    .setBufferedevents('0');
}

function statusOf({ enabled, fault }: StoredProjection): string {
  if (fault !== null) return enabled ? 'Faulted (Enabled)' : 'Faulted';
  return enabled ? 'Running' : 'Stopped';
}
