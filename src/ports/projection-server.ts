/**
 * Projections that run on the event store's own server, where auditors query them. The service itself never reads them:
 * after a server restart they are empty until the server has caught up. Every call may reject with StoreUnavailable,
 * StoreRefused or ProjectionsOff.
 */
export interface ProjectionServer {
  /** Whether the server folds at all; it may fold nothing though the status of every projection is Running. */
  folding(): Promise<Folding>;
  /**
   * Creates the projection or updates its source. Folded states stay until reset, and a stopped projection stays stopped.
   */
  put(name: string, source: string): Promise<'created' | 'updated'>;
  /** Null if the projection does not exist. */
  status(name: string): Promise<ServerProjectionStatus | null>;
  /** The source that runs now, whichever client deployed it; null if this user has no permission to read it. */
  runningSource(name: string): Promise<string | null>;
  /** Pauses folding until start; its states stay. @throws ProjectionMissing */
  stop(name: string): Promise<void>;
  /** Resumes folding where it stopped; no effect on a running projection. @throws ProjectionMissing */
  start(name: string): Promise<void>;
  /** Deletes its states and folds from the beginning; a stopped projection does so after start. @throws ProjectionMissing */
  reset(name: string): Promise<void>;
  /** The state of one stream; {} if it has none. @throws ProjectionMissing */
  state(name: string, stream: string): Promise<unknown>;
}

/** off: the server runs no projections. no-categories: the system projection that category projections need is stopped. */
export type Folding = 'on' | 'off' | 'no-categories';

export interface ServerProjectionStatus {
  /** The server's own word: Running, Stopped, Faulted (Enabled) ... */
  readonly status: string;
  /** The server's reason for the status, if it gives one, in one line. */
  readonly reason: string;
  /** Percent of the history that is folded; null if the server does not know, as before the first event since its start. */
  readonly progress: number | null;
  /** Progress, opaque: a different value means that it has moved. */
  readonly position: string;
}

/** The server has no projection of this name: none was ever deployed. */
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
