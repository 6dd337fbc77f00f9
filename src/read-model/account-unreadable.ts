/**
 * An account with an event that can't be folded, or whose stream is not whole, is set aside: its state is unknown, and other
 * accounts go on (quarantine.ts).
 */
import { type EventStore, type RecordedEvent, StreamHidden } from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import { ACCOUNT_STREAM_PREFIX, ownerText, PUBLISHER_STREAM_PREFIX } from '../webhooks/events.js';

/** A query for an account that is set aside. The message names the account and the reason. */
export class AccountUnreadable extends Error {
  override readonly name = 'AccountUnreadable';
  readonly code = 'ACCOUNT_UNREADABLE';
  constructor(
    readonly stream: string,
    readonly setAside: SetAside,
  ) {
    super(setAsideText(stream, setAside));
  }
}

export function setAsideText(stream: string, { why }: SetAside): string {
  return `${ownerIn(stream)} is set aside: ${why}`;
}

function ownerIn(stream: string): string {
  if (stream.startsWith(PUBLISHER_STREAM_PREFIX)) return ownerText(stream.slice(PUBLISHER_STREAM_PREFIX.length));
  return `account ${stream.startsWith(ACCOUNT_STREAM_PREFIX) ? stream.slice(ACCOUNT_STREAM_PREFIX.length) : stream}`;
}

export function setAsideBy({ revision, id, type }: RecordedEvent, why: string): SetAside {
  return { why: `event ${revision} (${type}, ${id}) can't be read: ${why}` };
}

export function setAsideHidden({ why }: StreamHidden): SetAside {
  return { why: `its stream cannot be read: ${why}` };
}

/** Whether the stream cannot be read from its first event on, and why. @throws StoreUnavailable */
export async function hiddenIn(store: Pick<EventStore, 'read'>, stream: string): Promise<SetAside | null> {
  try {
    for await (const _ of store.read(stream)) break;
    return null;
  } catch (error) {
    if (error instanceof StreamHidden) return setAsideHidden(error);
    throw error;
  }
}
