/**
 * Projections that run on the event store's own server, where auditors query them. The service itself never reads them:
 * after a restart of the server they are empty until it has caught up. Every call may be rejected with StoreUnavailable,
 * StoreRefused or ProjectionsOff.
 */
export interface ProjectionServer {
  /** Whether it folds at all; it may fold nothing though each projection says that it runs. */
  folding(): Promise<Folding>;
  /** Creates it, or gives it a new source; what it had folded stays until reset, and one that is stopped stays so. */
  put(name: string, source: string): Promise<'created' | 'updated'>;
  /** Null where it does not exist. */
  status(name: string): Promise<ServerProjectionStatus | null>;
  /** The text that it runs, whoever put it there; null where this user may not read it. */
  runningSource(name: string): Promise<string | null>;
  /** It folds nothing until it is started; its states stay. @throws ProjectionMissing */
  stop(name: string): Promise<void>;
  /** It goes on where it was; nothing where it runs. @throws ProjectionMissing */
  start(name: string): Promise<void>;
  /** Its states are gone, and it folds from the beginning; one that is stopped not before it is started. @throws ProjectionMissing */
  reset(name: string): Promise<void>;
  /** The state of one stream; {} where it has none. @throws ProjectionMissing */
  state(name: string, stream: string): Promise<unknown>;
}

/** on; off: it runs no projections. no-categories: what it needs for those of a category is stopped. */
export type Folding = 'on' | 'off' | 'no-categories';

export interface ServerProjectionStatus {
  /** As the server calls it: Running, Stopped, Faulted (Enabled) ... */
  readonly status: string;
  /** Why it is so, where it says. */
  readonly reason: string;
  /** Percent of the history that is folded; -1 where it does not know. */
  readonly progress: number;
  /** How far it has come, opaque: another one is a step. */
  readonly position: string;
}

/** The server has no projection of this name: it was never deployed there. */
export class ProjectionMissing extends Error {
  override readonly name = 'ProjectionMissing';
  readonly code = 'PROJECTION_MISSING';
  constructor(readonly projection: string) {
    super(`the event store's server has no projection ${projection}`);
  }
}

/** The server was started without projections. */
export class ProjectionsOff extends Error {
  override readonly name = 'ProjectionsOff';
  readonly code = 'PROJECTIONS_OFF';
  constructor(cause: unknown) {
    super("projections are off at the event store's server", { cause });
  }
}
