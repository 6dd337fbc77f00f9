/**
 * Reads the projections/ folder: source in EventStoreDB's projection language, run here by the subset of that language that
 * the sources use: fromCategory(c).foreachStream().when({ $init, <event type>: (state, event) => state })
 * Events of a type without a handler leave the state unchanged.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { packageFile } from '../package-file.js';
import type { RecordedEvent } from '../ports/event-store.js';

export const PROJECTIONS = ['account-webhooks', 'account-credentials'] as const;
export type ProjectionName = (typeof PROJECTIONS)[number];

export interface Projection {
  readonly name: string;
  /** Prefix of the streams it folds: the category's name and a dash. */
  readonly streamPrefix: string;
  /** A hash of the source: if it differs, the states must be folded again. */
  readonly version: string;
  init(): unknown;
  /** False if events of the type leave every state unchanged. */
  handles(eventType: string): boolean;
  fold(state: unknown, event: RecordedEvent): unknown;
}

/** A handler's view of an event: the names are those of an EventStoreDB server, which has more of them. */
type HandledEvent = Pick<RecordedEvent, 'data'> & { readonly eventId: string };
type Handler = (state: unknown, event?: HandledEvent) => unknown;

export const loadProjection = (name: ProjectionName) => compileProjection(name, projectionSource(name));

export const projectionSource = (name: ProjectionName) => readFileSync(packageFile(`projections/${name}.js`), 'utf8');

/** @throws Error if the source does not compile or folds nothing. */
export function compileProjection(name: string, source: string): Projection {
  let category = '';
  let handlers: Readonly<Record<string, Handler>> = {};
  const chain = {
    foreachStream: () => chain,
    when: (given: Record<string, Handler>) => {
      handlers = Object.assign(Object.create(null), given);
      return chain;
    },
  };
  const fromCategory = (given: string) => {
    category = given;
    return chain;
  };
  compileFunction(source, ['fromCategory'], { filename: `projections/${name}.js` })(fromCategory);
  const { $init } = handlers;
  if (!category || !$init) throw new Error(`projections/${name}.js folds no category, or has no $init`);
  // $init and the like are no event types: names with a $ are reserved by the store.
  const handlerOf = (type: string) => (type.startsWith('$') ? undefined : handlers[type]);
  return {
    name,
    streamPrefix: `${category}-`,
    version: hashOf(source),
    init: () => $init(undefined),
    handles: (eventType) => handlerOf(eventType) !== undefined,
    fold: (state, event) => {
      const handler = handlerOf(event.type);
      return handler ? handler(state, { data: event.data, eventId: event.id }) : state;
    },
  };
}

/** One projection that combines all of these: its state has theirs, by name. */
export function combined(projections: readonly Projection[]): Projection {
  const [first] = projections;
  if (!first || projections.some(({ streamPrefix }) => streamPrefix !== first.streamPrefix)) {
    throw new RangeError('projections of one category are folded together');
  }
  return {
    name: 'read model',
    streamPrefix: first.streamPrefix,
    version: hashOf(projections.map(({ name, version }) => `${name} ${version}`).join()),
    init: () => Object.fromEntries(projections.map(({ name, init }) => [name, init()])),
    handles: (eventType) => projections.some(({ handles }) => handles(eventType)),
    fold(state, event) {
      const states = state as Record<string, unknown>;
      for (const { name, handles, fold } of projections) {
        if (handles(event.type)) states[name] = fold(states[name], event);
      }
      return states;
    },
  };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
