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
import { type handleUnaryCall, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { type Context, notReady, RpcError } from './calls.js';
import { projections as messages, shared, struct } from './messages.js';
import type { ProjectionRunner } from './projection-runner.js';
import { statisticsHandler } from './projection-statistics.js';
import type { StoredData, StoredProjection } from './stored-data.js';

interface Named {
  getOptions(): { getName(): string } | undefined;
}

export function projectionHandlers(context: Context, runner: ProjectionRunner): UntypedServiceImplementation {
  const { data } = context;
  const change = <Q extends Named, R>(answer: () => R, act: (projection: StoredProjection, request: Q) => void) =>
    unary<Q, R>(context, (request) => {
      act(find(data, request, 'Updated'), request);
      runner.wake();
      return answer();
    });
  return {
    create: unary<CreateReq, object>(context, (request) => {
      create(data, request);
      runner.wake();
      return new messages.CreateResp();
    }),
    update: change<UpdateReq, object>(
      () => new messages.UpdateResp(),
      (projection, request) => {
        projection.source = request.getOptions()?.getQuery() ?? '';
        projection.fault = null;
      },
    ),
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
    delete: unary<DeleteReq, object>(context, (request) => {
      remove(data, request);
      return new messages.DeleteResp();
    }),
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
function unary<Q, R>({ faults }: Context, act: (request: Q) => R | undefined): handleUnaryCall<Q, R> {
  return ({ request }, answer) => {
    try {
      if (faults.isNotReady) throw notReady();
      const response = act(request);
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
function create({ projections }: StoredData, request: CreateReq): void {
  const name = request.getOptions()?.getContinuous()?.getName() ?? '';
  if (projections.has(name)) throw received('Conflict', 'Updated');
  const source = request.getOptions()?.getQuery() ?? '';
  projections.set(name, { source, enabled: true, fault: null, seen: 0, epoch: 0, states: new Map() });
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
