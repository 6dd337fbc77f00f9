/** The management of projections. Its errors have no codes: the client gives UnknownError with a word in its message. */
import type {
  CreateReq,
  DeleteReq,
  DisableReq,
  EnableReq,
  ResetReq,
  ResultReq,
  StateReq,
  UpdateReq,
} from '@eventstore/db-client/generated/projections_pb.js';
import { type handleUnaryCall, type Metadata, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { type Context, notReady, projectionsOff, RpcError } from './calls.js';
import { projections as messages, shared, struct } from './messages.js';
import type { ProjectionRunner } from './projection-runner.js';
import { statisticsHandler } from './projection-statistics.js';
import { json, type StoredData, type StoredProjection } from './stored-data.js';
import { newProjection } from './system-projections.js';

interface Named {
  getOptions(): { getName(): string } | undefined;
}

export function projectionHandlers(context: Context, runner: ProjectionRunner): UntypedServiceImplementation {
  const { data } = context;
  /** Of what operators may do. */
  const operation = <Q, R>(answer: () => R, act: (request: Q) => void) =>
    unary<Q, R>(context, (request, caller) => {
      if (!context.mayChangeProjections(caller)) throw received('NotAuthorized', 'Updated');
      act(request);
      runner.wake();
      return answer();
    });
  const change = <Q extends Named, R>(answer: () => R, act: (projection: StoredProjection, request: Q) => void) =>
    operation<Q, R>(answer, (request) => {
      const projection = find(data, request, 'Updated');
      act(projection, request);
      writeDown(data, request.getOptions()?.getName() ?? '', projection);
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
    delete: operation<DeleteReq, object>(
      () => new messages.DeleteResp(),
      (request) => remove(data, request),
    ),
    state: unary<StateReq, object>(context, (request) => {
      const state = stateOf(data, runner, request, 'ProjectionState');
      return state && new messages.StateResp().setState(state);
    }),
    result: unary<ResultReq, object>(context, (request) => {
      const result = stateOf(data, runner, request, 'ProjectionResult');
      return result && new messages.ResultResp().setResult(result);
    }),
    statistics: statisticsHandler(context, runner),
    restartSubsystem: unary<unknown, object>(context, () => new shared.Empty()),
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

function received(what: string, expected: string): RpcError {
  return new RpcError(status.UNKNOWN, `Envelope callback expected ${expected}, received ${what} instead`);
}

function find({ projections }: StoredData, request: Named, expected: string): StoredProjection {
  const projection = projections.get(request.getOptions()?.getName() ?? '');
  if (!projection) throw received('NotFound', expected);
  return projection;
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

function remove(data: StoredData, request: DeleteReq): void {
  if (find(data, request, 'Updated').enabled) throw received('OperationFailed', 'Updated');
  const name = request.getOptions()?.getName() ?? '';
  data.projections.delete(name);
  data.deletedProjections.add(name);
}

/** Undefined for what the server does not get ready: it never answers then. */
function stateOf(data: StoredData, runner: ProjectionRunner, request: StateReq | ResultReq, expected: string) {
  const name = request.getOptions()?.getName() ?? '';
  const program = runner.programOf(name, find(data, request, expected));
  const state = JSON.parse(runner.state(name, request.getOptions()?.getPartition() ?? '') ?? '{}') ?? {};
  if (program === 'does not compile' || typeof state !== 'object') return undefined;
  return struct.Value.fromJavaScript(state);
}
