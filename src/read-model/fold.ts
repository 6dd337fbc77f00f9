/**
 * The one fold of a stream's events. Commands, read model, history, audit, doctor and the comparison with an event store's
 * server all fold by it, so that they agree on every state.
 */
import type { RecordedEvent } from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import { AccountUnreadable, setAsideBy } from './account-unreadable.js';
import { whyUnfoldable } from './foldable.js';
import { copyOf } from './plain-json.js';
import type { Projection } from './projection-source.js';

export interface Folded<S> {
  readonly state: S;
  /** The revision of the stream's last event that is in the state. */
  readonly revision: number;
  /** The id of that event: if the store has another event at that revision, it is another history. */
  readonly eventId: string;
  /** It was never handed out, so a fold may change it. */
  readonly isOwn?: boolean;
}

/**
 * The state after the event, or why the event can't be folded. Copies a state that was handed out, and only if the event
 * changes it.
 */
export function foldNext<S>(
  { init, fold, handles }: Projection,
  before: Folded<S> | undefined,
  event: RecordedEvent,
): Folded<S> | SetAside {
  const { revision, id: eventId } = event;
  const isOwn = before ? before.isOwn === true : true;
  const state = before ? before.state : (init() as S);
  if (!handles(event.type)) return { state, revision, eventId, isOwn };
  const why = whyUnfoldable(event);
  if (why !== null) return setAsideBy(event, why);
  return { state: fold(isOwn ? state : copyOf(state), event) as S, revision, eventId, isOwn: true };
}

/** The state after each event. A state is valid until the next one. @throws AccountUnreadable, the errors of the events */
export async function* foldEach<S>(
  projection: Projection,
  events: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>,
  before?: Folded<S>,
): AsyncIterable<Folded<S>> {
  let folded = before;
  for await (const event of events) {
    const next = foldNext(projection, folded, event);
    if ('why' in next) throw new AccountUnreadable(event.stream, next);
    yield next;
    folded = next;
  }
}

/** The state after the last event; `before` if there is none. @throws AccountUnreadable, the errors of the events */
export async function foldAll<S>(
  projection: Projection,
  events: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>,
  before?: Folded<S>,
): Promise<Folded<S> | undefined> {
  let last = before;
  for await (const folded of foldEach(projection, events, before)) last = folded;
  return last && handedOut(last);
}

/** From now on others hold the state: the next fold copies it. */
export function handedOut<S>({ state, revision, eventId }: Folded<S>): Folded<S> {
  return { state, revision, eventId };
}
