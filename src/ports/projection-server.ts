/**
 * Projections that run on the event store's own server, where auditors query them. The service itself never reads them:
 * after a restart of the server they are empty until it has caught up.
 */
export interface ProjectionServer {
  /** Creates it, or gives it a new source; what it had folded stays until reset. @throws StoreUnavailable */
  put(name: string, source: string): Promise<'created' | 'updated'>;
  /** Null where it does not exist. @throws StoreUnavailable */
  status(name: string): Promise<ServerProjectionStatus | null>;
  /** It folds from the beginning again. @throws ProjectionMissing, StoreUnavailable */
  reset(name: string): Promise<void>;
  /** The state of one stream; {} where it has none. @throws ProjectionMissing, StoreUnavailable */
  state(name: string, stream: string): Promise<unknown>;
}

export interface ServerProjectionStatus {
  /** As the server calls it: Running, Stopped, Faulted (Enabled) ... */
  readonly status: string;
  /** Why it is so, where it says. */
  readonly reason: string;
  /** Percent of the history that is folded; -1 where it does not know. */
  readonly progress: number;
}

/** The server has no projection of this name: it was never deployed there. */
export class ProjectionMissing extends Error {
  override readonly name = 'ProjectionMissing';
  readonly code = 'PROJECTION_MISSING';
  constructor(readonly projection: string) {
    super(`the event store's server has no projection ${projection}`);
  }
}
