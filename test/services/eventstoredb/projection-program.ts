/**
 * A projection's source, compiled in a world of its own that has what the server's JavaScript engine has: no console, no
 * timers. Only text goes in and out: a state is what JSON makes of it.
 */
import { createContext, Script } from 'node:vm';

/** A handler that takes longer faults the projection. */
const LIMIT_MS = 250;
/** On a busy machine the process may stand still for longer: so it is tried again, and a compilation has this long. */
const PATIENT_MS = 10 * LIMIT_MS;

const LANGUAGE = new Script(`
delete globalThis.Intl;
delete globalThis.console;
var $program = { category: '', handlers: {} };
function fromCategory(category) {
  const chain = {
    foreachStream: () => chain,
    when: (handlers) => (($program.handlers = handlers), chain),
    outputState: () => chain,
  };
  $program.category = category;
  return chain;
}
function $onlyFinite(key, value) {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError('.NET number values such as positive and negative infinity cannot be written as valid JSON.');
}
function $fold(state, event) {
  const { handlers } = $program;
  const before = state === null ? (handlers.$init ? handlers.$init() : {}) : JSON.parse(state);
  const returned = handlers[event.eventType](before, event);
  return JSON.stringify(returned === undefined ? before : returned, $onlyFinite);
}
function $handles(type) {
  return Object.hasOwn($program.handlers, type);
}
`);
const HANDLES = new Script('$handles($type)');
const FOLD = new Script('$fold($state, JSON.parse($event))');

/** As a handler sees it; metadata and data are JSON already. There is no `created`. */
export interface HandledEvent {
  readonly eventType: string;
  readonly eventId: string;
  readonly streamId: string;
  readonly sequenceNumber: number;
  readonly data: unknown;
  readonly metadata: unknown;
}

export class ProjectionProgram {
  readonly streamPrefix: string;
  readonly #world = createContext({});

  /** @throws what the source throws */
  constructor(source: string) {
    LANGUAGE.runInContext(this.#world);
    new Script(source, { filename: 'projection.js' }).runInContext(this.#world, { timeout: PATIENT_MS });
    const { category } = new Script('$program').runInContext(this.#world);
    this.streamPrefix = `${category}-`;
  }

  handles(eventType: string): boolean {
    Object.assign(this.#world, { $type: eventType });
    return HANDLES.runInContext(this.#world);
  }

  /** @param state as JSON; null where there is none. @throws what the handler throws */
  fold(state: string | null, event: HandledEvent): string {
    const $event = JSON.stringify({ ...event, body: event.data, partition: event.streamId, isJson: true });
    Object.assign(this.#world, { $state: state, $event });
    return this.#within(LIMIT_MS) ?? this.#within(PATIENT_MS) ?? tookTooLong();
  }

  /** Null where it took longer: the state and the event are parsed again for the next try. */
  #within(timeout: number): string | null {
    try {
      return FOLD.runInContext(this.#world, { timeout });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
      throw error;
    }
  }
}

/** The server's text has no closing bracket. */
function tookTooLong(): never {
  const limit = `00:00:00.${LIMIT_MS}0000`;
  throw new Error(`Projection script took too long to execute (took: ${limit}, allowed: ${limit}`);
}
