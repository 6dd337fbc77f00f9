/** The status of one projection, or of all. */
import type { StatisticsReq, StatisticsResp } from '@eventstore/db-client/generated/projections_pb.js';
import { type handleServerStreamingCall, status } from '@grpc/grpc-js';
import { answering, type Context, goneWith, notReady, projectionsOff, RpcError } from './calls.js';
import { projections as messages } from './messages.js';
import type { ProjectionRunner } from './projection-runner.js';
import type { StoredData, StoredProjection } from './stored-data.js';
import { BY_CATEGORY, isStandard } from './system-projections.js';

export function statisticsHandler(
  { data, faults, runsProjections }: Context,
  runner: ProjectionRunner,
): handleServerStreamingCall<StatisticsReq, StatisticsResp> {
  return (call) =>
    answering(call, goneWith(call), async () => {
      if (faults.isNotReady) throw notReady();
      if (runsProjections === 'none') throw projectionsOff();
      const linked = data.projections.get(BY_CATEGORY)?.seen ?? 0;
      for (const [name, projection] of asked(data, runner, call.request.getOptions()?.getName())) {
        const isRun = runsProjections === 'all' || isStandard(name);
        call.write(new messages.StatisticsResp().setDetails(details(name, projection, { linked, isRun })));
      }
    });
}

/** Without a name all. One that does not compile spoils the list for all. */
function asked({ projections }: StoredData, runner: ProjectionRunner, name = ''): [string, StoredProjection][] {
  const found = [...projections].filter(([each]) => !name || each === name);
  if (name && found.length === 0) {
    throw new RpcError(status.UNKNOWN, 'Envelope callback expected Statistics, received NotFound instead');
  }
  if (found.some(([each, projection]) => !isStandard(each) && !runner.compiles(each, projection))) {
    throw new RpcError(status.UNKNOWN, 'Exception was thrown by handler. ArgumentNullException');
  }
  return found;
}

interface Counts {
  /** What $by_category has linked of the log: all there is for the others. */
  readonly linked: number;
  readonly isRun: boolean;
}

function details(name: string, projection: StoredProjection, { linked, isRun }: Counts): StatisticsResp.Details {
  const { fault, seen, epoch, states } = projection;
  return new messages.StatisticsResp.Details()
    .setName(name)
    .setEffectivename(name)
    .setMode('Continuous')
    .setStatus(statusOf(projection, isRun))
    .setStatereason(fault ?? '')
    .setProgress(linked === 0 || isStandard(name) ? 100 : (seen / linked) * 100)
    .setPartitionscached(states.size)
    .setPosition(`C:${seen}/P:${seen}`)
    .setEventsprocessedafterrestart(`${seen}`)
    .setEpoch(`${epoch}`)
    .setVersion(`${epoch}`)
    .setCoreprocessingtime('0')
    .setBufferedevents('0');
}

function statusOf({ enabled, fault }: StoredProjection, isRun: boolean): string {
  if (!isRun) return enabled ? 'Stopped (Enabled)' : 'Stopped';
  if (fault !== null) return enabled ? 'Faulted (Enabled)' : 'Faulted';
  return enabled ? 'Running' : 'Stopped';
}
