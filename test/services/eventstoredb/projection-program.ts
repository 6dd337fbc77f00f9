/**
 * A projection's source, compiled in a world of its own. Only text goes in and out: a state is what JSON makes of it.
 */
import { createContext, Script } from 'node:vm';

/** A handler that takes longer faults the projection; ten times as long as on a real server, for a busy machine. */
const LIMIT_MS = 2_500;

const LANGUAGE = new Script(`
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
function $fold(state, event) {
  const { handlers } = $program;
  const before = state === null ? (handlers.$init ? handlers.$init() : {}) : JSON.parse(state);
  const returned = handlers[event.eventType](before, event);
  return JSON.stringify(returned === undefined ? before : returned);
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
    new Script(source, { filename: 'projection.js' }).runInContext(this.#world, { timeout: LIMIT_MS });
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
    return FOLD.runInContext(this.#world, { timeout: LIMIT_MS });
  }
}
