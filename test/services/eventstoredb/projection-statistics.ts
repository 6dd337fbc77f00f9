/** The status of one projection, or of all. */
import type { StatisticsReq, StatisticsResp } from '@eventstore/db-client/generated/projections_pb.js';
import { type handleServerStreamingCall, status } from '@grpc/grpc-js';
import { answering, type Context, goneWith, notReady, projectionMissing, projectionsOff, RpcError } from './calls.js';
import { projections as messages } from './messages.js';
import type { ProjectionRunner } from './projection-runner.js';
import type { StoredProjection } from './stored-data.js';
import { BY_CATEGORY, isStandard } from './system-projections.js';

const NOT_BEGUN = -1;

export function statisticsHandler(
  context: Context,
  runner: ProjectionRunner,
): handleServerStreamingCall<StatisticsReq, StatisticsResp> {
  const { data, faults, runsProjections } = context;
  return (call) =>
    answering(call, goneWith(call), async () => {
      if (faults.isNotReady) throw notReady();
      if (runsProjections === 'none') throw projectionsOff();
      const linked = data.projections.get(BY_CATEGORY)?.seen ?? 0;
      for (const [name, projection] of asked(context, runner, call.request.getOptions()?.getName())) {
        const isRun = runsProjections === 'all' || isStandard(name);
        const seen = {
          linked,
          isRun,
          isHeld: faults.areProjectionsHeld,
          hasBegun: runner.hasBegun(name),
          fault: runner.faultOf(name, projection),
        };
        call.write(new messages.StatisticsResp().setDetails(details(name, projection, seen)));
      }
    });
}

/** Without a name all. With 23.10 one that does not compile spoils the list for all. */
function asked({ data, version }: Context, runner: ProjectionRunner, name = ''): [string, StoredProjection][] {
  const found = [...data.projections].filter(([each]) => !name || each === name);
  if (name && found.length === 0) throw projectionMissing(version, name, 'Statistics');
  if (
    version === '23.10' &&
    found.some(([each, projection]) => !isStandard(each) && runner.programOf(each, projection) instanceof Error)
  ) {
    throw new RpcError(status.UNKNOWN, 'Exception was thrown by handler. ArgumentNullException');
  }
  return found;
}

interface Seen {
  /** What $by_category has linked of the log: all there is for the others. */
  readonly linked: number;
  readonly isRun: boolean;
  /** A real server pauses reading while it has too much to fold. */
  readonly isHeld: boolean;
  /** Whether it was given an event since it was started. */
  readonly hasBegun: boolean;
  readonly fault: string | null;
}

function details(name: string, projection: StoredProjection, how: Seen): StatisticsResp.Details {
  const { seen, epoch, states } = projection;
  const { linked, hasBegun, fault } = how;
  const progress = hasBegun ? (seen / linked) * 100 : NOT_BEGUN;
  return new messages.StatisticsResp.Details()
    .setName(name)
    .setEffectivename(name)
    .setMode('Continuous')
    .setStatus(statusOf(projection, how))
    .setStatereason(fault ?? '')
    .setProgress(isStandard(name) ? 100 : progress)
    .setPartitionscached(states.size)
    .setPosition(`C:${seen}/P:${seen}`)
    .setEventsprocessedafterrestart(`${seen}`)
    .setEpoch(`${epoch}`)
    .setVersion(`${epoch}`)
    .setCoreprocessingtime('0')
    .setBufferedevents('0');
}

function statusOf({ enabled, seen }: StoredProjection, { isRun, fault, isHeld, linked }: Seen): string {
  if (!isRun) return enabled ? 'Stopped (Enabled)' : 'Stopped';
  if (fault !== null) return enabled ? 'Faulted (Enabled)' : 'Faulted';
  if (!enabled) return 'Stopped';
  return isHeld && seen < linked ? 'Running/Paused' : 'Running';
}
