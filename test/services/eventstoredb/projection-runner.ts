/** Runs the stored projections over the log: after the append, not within it. */
import type { Context } from './calls.js';
import { type HandledEvent, ProjectionProgram } from './projection-program.js';
import { BY_CATEGORY, isStandard, type StoredData, type StoredEvent, type StoredProjection } from './stored-data.js';

/** An error where the source does not compile. */
export type Program = ProjectionProgram | Error;

/** A real server starts its projections after its election: until then it reports them as `Starting`, and stores appends. */
const STARTS_AFTER_MS = 50;

export class ProjectionRunner {
  readonly #context: Context;
  isStarting = true;
  /** Fulfilled once they run. */
  readonly started: Promise<void>;
  #start: NodeJS.Timeout | undefined;
  readonly #programs = new Map<string, { readonly source: string; readonly program: Program }>();
  /** Those that were at the log's end once since this server has started: before that there are no states. */
  readonly #awake = new Set<string>();
  /** Those that were given an event since they were started. */
  readonly #begun = new Set<string>();
  #next: NodeJS.Immediate | undefined;
  #isStopped = false;
  readonly #wake = () => {
    if (!this.#isStopped && !this.isStarting) this.#next ??= setImmediate(() => this.#run());
  };

  constructor(context: Context) {
    this.#context = context;
    context.data.appends.on('append', this.#wake);
    this.started = new Promise((resolve) => {
      this.#start = setTimeout(resolve, STARTS_AFTER_MS);
    }).then(() => {
      this.isStarting = false;
      this.#wake();
    });
  }

  /** Something has changed besides the log. */
  wake(): void {
    this.#wake();
  }

  /** Its reader begins again, after what it has seen. */
  restarted(name: string): void {
    this.#begun.delete(name);
  }

  hasBegun(name: string): boolean {
    return this.#begun.has(name);
  }

  stop(): void {
    this.#isStopped = true;
    this.#context.data.appends.off('append', this.#wake);
    clearTimeout(this.#start);
    clearImmediate(this.#next);
    this.#next = undefined;
  }

  programOf(name: string, { source }: StoredProjection): Program {
    const known = this.#programs.get(name);
    if (known?.source === source) return known.program;
    const program = compile(source);
    this.#programs.set(name, { source, program });
    return program;
  }

  faultOf(name: string, projection: StoredProjection): string | null {
    if (isStandard(name)) return null;
    const program = this.programOf(name, projection);
    return program instanceof Error ? program.message : projection.fault;
  }

  /** As JSON; undefined where there is none. */
  state(name: string, partition: string): string | undefined {
    return this.#awake.has(name) ? this.#context.data.projections.get(name)?.states.get(partition) : undefined;
  }

  #run(): void {
    this.#next = undefined;
    const { data, faults, isLeader, runsProjections } = this.#context;
    if (!isLeader() || runsProjections === 'none') return;
    const linked = link(data);
    if (faults.areProjectionsHeld || runsProjections === 'system') return;
    for (const [name, projection] of data.projections) {
      if (!isStandard(name)) this.#fold(name, projection, linked);
    }
  }

  #fold(name: string, projection: StoredProjection, linked: number): void {
    const { log } = this.#context.data;
    const program = this.programOf(name, projection);
    if (program instanceof Error) return;
    while (projection.enabled && projection.fault === null && projection.seen < linked) {
      this.#step(name, projection, program, log[projection.seen]);
    }
    this.#awake.add(name);
  }

  #step(name: string, projection: StoredProjection, program: ProjectionProgram, stored: StoredEvent | undefined): void {
    const event = stored && handled(stored, program);
    if (stored?.stream.startsWith(program.streamPrefix)) this.#begun.add(name);
    try {
      if (event) fold(projection, program, event);
      projection.seen += 1;
    } catch (error) {
      projection.fault = faultText(name, projection, error);
    }
  }
}

function fold({ states }: StoredProjection, program: ProjectionProgram, event: HandledEvent): void {
  states.set(event.streamId, program.fold(states.get(event.streamId) ?? null, event));
}

/** Projections of a category read what $by_category has linked. @returns how much of the log that is */
function link({ projections, log }: StoredData): number {
  const byCategory = projections.get(BY_CATEGORY);
  if (byCategory?.enabled) byCategory.seen = log.length;
  return byCategory?.seen ?? 0;
}

/** Of several lines, as a real server writes it. */
function faultText(name: string, { seen }: StoredProjection, error: unknown): string {
  const about = `Handler: JintProjectionStateHandler\r\nEvent Position: C:${seen}`;
  return `The ${name} projection failed to process an event.\r\n${about}\r\n\r\nMessage:\r\n\r\n${error}`;
}

function compile(source: string): Program {
  try {
    return new ProjectionProgram(source);
  } catch (error) {
    return new Error(`${error}`);
  }
}

/** Null for what the projection has no handler for. */
function handled(
  { stream, type, id, revision, ...event }: StoredEvent,
  program: ProjectionProgram,
): HandledEvent | null {
  if (!stream.startsWith(program.streamPrefix) || !program.handles(type)) return null;
  const data = JSON.parse(text(event.data));
  const metadata = text(event.metadata) === '' ? null : JSON.parse(text(event.metadata));
  return { eventType: type, eventId: id, streamId: stream, sequenceNumber: revision, data, metadata };
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
