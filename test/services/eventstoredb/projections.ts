/**
 * The management of projections, and their status. Its errors have no codes: the client gives UnknownError with a word in
 * its message. Only for a projection that is not there 25 has one.
 */
import type {
  CreateReq,
  DisableReq,
  EnableReq,
  ResetReq,
  StateReq,
  StatisticsReq,
  StatisticsResp,
  UpdateReq,
} from '@eventstore/db-client/generated/projections_pb.js';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Metadata,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { answering, type Context, goneWith, notReady, RpcError } from './calls.js';
import { projections as messages, struct } from './messages.js';
import type { ServerVersion } from './own-server.js';
import type { ProjectionRunner } from './projection-runner.js';
import { BY_CATEGORY, isStandard, json, newProjection, type StoredData, type StoredProjection } from './stored-data.js';

const NOT_BEGUN = -1;

interface Named {
  getOptions(): { getName(): string } | undefined;
}

export function projectionHandlers(context: Context, runner: ProjectionRunner): UntypedServiceImplementation {
  const { data } = context;
  /** Of what operators may do. */
  const operation = <Q, R>(answer: () => R, act: (request: Q) => void) =>
    unary<Q, R>(context, (request, caller) => {
      if (!context.access.mayChangeProjections(caller)) throw received('NotAuthorized', 'Updated');
      act(request);
      runner.wake();
      return answer();
    });
  const change = <Q extends Named, R>(answer: () => R, act: (projection: StoredProjection, request: Q) => void) =>
    operation<Q, R>(answer, (request) => {
      const projection = find(context, request, 'Updated');
      const name = nameIn(request);
      act(projection, request);
      runner.restarted(name);
      writeDown(data, name, projection);
    });
  return {
    create: operation<CreateReq, object>(
      () => new messages.CreateResp(),
      (request) => create(data, request),
    ),
    update: change<UpdateReq, object>(
      () => new messages.UpdateResp(),
      (projection, request) => {
        projection.source = request.getOptions()?.getQuery() ?? '';
        projection.fault = null;
      },
    ),
    // Of one that is stopped: it stays so.
    reset: change<ResetReq, object>(
      () => new messages.ResetResp(),
      (projection) => {
        Object.assign(projection, { seen: 0, fault: null, epoch: projection.epoch + 1 });
        projection.states.clear();
      },
    ),
    enable: change<EnableReq, object>(
      () => new messages.EnableResp(),
      (projection) => {
        Object.assign(projection, { enabled: true, fault: null });
      },
    ),
    disable: change<DisableReq, object>(
      () => new messages.DisableResp(),
      (projection) => {
        projection.enabled = false;
      },
    ),
    state: unary<StateReq, object>(context, (request) => {
      const state = stateOf(context, runner, request);
      return state && new messages.StateResp().setState(state);
    }),
    statistics: statisticsHandler(context, runner),
  };
}

/** Undefined is no answer at all. */
function unary<Q, R>(
  { faults, runsProjections }: Context,
  act: (request: Q, caller: Metadata) => R | undefined,
): handleUnaryCall<Q, R> {
  return ({ request, metadata }, answer) => {
    try {
      if (faults.isNotReady) throw notReady();
      if (runsProjections === 'none') throw projectionsOff();
      const response = act(request, metadata);
      if (response !== undefined) answer(null, response);
    } catch (error) {
      answer(error as RpcError);
    }
  };
}

function find({ data, version }: Context, request: Named, expected: string): StoredProjection {
  const name = nameIn(request);
  const projection = data.projections.get(name);
  if (!projection) throw projectionMissing(version, name, expected);
  return projection;
}

function nameIn(request: Named): string {
  return request.getOptions()?.getName() ?? '';
}

/** A source that does not compile is taken all the same. */
function create(data: StoredData, request: CreateReq): void {
  const name = request.getOptions()?.getContinuous()?.getName() ?? '';
  if (data.projections.has(name)) throw received('Conflict', 'Updated');
  const projection = newProjection(request.getOptions()?.getQuery() ?? '');
  data.projections.set(name, projection);
  writeDown(data, name, projection);
}

/** After each change: where the source that runs can be read. */
function writeDown(data: StoredData, name: string, { source, enabled, epoch }: StoredProjection): void {
  const settings = { handlerType: 'JS', query: source, mode: 'Continuous', enabled, epoch };
  data.append(`$projections-${name}`, [json('$ProjectionUpdated', JSON.stringify(settings))]);
}

/** Undefined for what the server does not get ready: it never answers then. */
function stateOf(context: Context, runner: ProjectionRunner, request: StateReq) {
  const name = nameIn(request);
  const program = runner.programOf(name, find(context, request, 'ProjectionState'));
  const state = JSON.parse(runner.state(name, request.getOptions()?.getPartition() ?? '') ?? '{}') ?? {};
  if (program instanceof Error || typeof state !== 'object') return undefined;
  return struct.Value.fromJavaScript(state);
}

function statisticsHandler(
  context: Context,
  runner: ProjectionRunner,
): handleServerStreamingCall<StatisticsReq, StatisticsResp> {
  const { data, faults, runsProjections } = context;
  return (call) =>
    answering(call, goneWith(call), async () => {
      if (faults.isNotReady) throw notReady();
      if (runsProjections === 'none') throw projectionsOff();
      const linked = data.projections.get(BY_CATEGORY)?.seen ?? 0;
      const name = call.request.getOptions()?.getName() ?? '';
      const projection = asked(context, runner, name);
      const seen = {
        linked,
        isRun: runsProjections === 'all' || isStandard(name),
        isStarting: runner.isStarting,
        isHeld: faults.areProjectionsHeld,
        hasBegun: runner.hasBegun(name),
        fault: runner.faultOf(name, projection),
        doesCompile: isStandard(name) || !(runner.programOf(name, projection) instanceof Error),
      };
      call.write(new messages.StatisticsResp().setDetails(details(name, projection, seen)));
    });
}

/** With 23.10 a source that does not compile spoils the answer. */
function asked({ data, version }: Context, runner: ProjectionRunner, name: string): StoredProjection {
  const projection = data.projections.get(name);
  if (!projection) throw projectionMissing(version, name, 'Statistics');
  if (version === '23.10' && !isStandard(name) && runner.programOf(name, projection) instanceof Error) {
    throw new RpcError(status.UNKNOWN, 'Exception was thrown by handler. ArgumentNullException');
  }
  return projection;
}

interface Seen {
  /** What $by_category has linked of the log: all there is for the others. */
  readonly linked: number;
  readonly isRun: boolean;
  readonly isStarting: boolean;
  /** A real server pauses reading while it has too much to fold. */
  readonly isHeld: boolean;
  /** Whether it was given an event since it was started. */
  readonly hasBegun: boolean;
  readonly fault: string | null;
  /** A 25 reports progress 0 for a source that does not compile. */
  readonly doesCompile: boolean;
}

function details(name: string, projection: StoredProjection, how: Seen): StatisticsResp.Details {
  const { seen } = projection;
  const { linked, hasBegun, fault, doesCompile } = how;
  const progress = hasBegun ? (seen / linked) * 100 : doesCompile ? NOT_BEGUN : 0;
  return new messages.StatisticsResp.Details()
    .setName(name)
    .setStatus(statusOf(projection, how))
    .setStatereason(fault ?? '')
    .setProgress(isStandard(name) ? 100 : progress)
    .setPosition(`C:${seen}/P:${seen}`);
}

function statusOf({ enabled, seen }: StoredProjection, { isRun, isStarting, fault, isHeld, linked }: Seen): string {
  if (!isRun) return enabled ? 'Stopped (Enabled)' : 'Stopped';
  if (fault !== null) return enabled ? 'Faulted (Enabled)' : 'Faulted';
  if (!enabled) return 'Stopped';
  if (isStarting) return 'Starting';
  return isHeld && seen < linked ? 'Running/Paused' : 'Running';
}

/** To every call about projections. */
function projectionsOff(): RpcError {
  return new RpcError(status.UNKNOWN, 'Exception was thrown by handler.');
}

/** Of what the management of projections got instead of the answer. */
function received(what: string, expected: string): RpcError {
  return new RpcError(status.UNKNOWN, `Envelope callback expected ${expected}, received ${what} instead`);
}

function projectionMissing(version: ServerVersion, name: string, expected: string): RpcError {
  if (version === '23.10') return received('NotFound', expected);
  return new RpcError(status.NOT_FOUND, `Projection '${name}' not found`);
}
