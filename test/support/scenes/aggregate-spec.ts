import { foldNext } from '../../../src/read-model/fold.js';
import { loadProjection } from '../../../src/read-model/projection-source.js';
import { type Command, type Decision, decide, type WebhookVersion } from '../../../src/webhooks/decide.js';
import type { AccountEvent, StoredAccountEvent, WebhookEvent } from '../../../src/webhooks/events.js';
import { type AccountWebhooks, NO_ACCOUNT } from '../../../src/webhooks/state.js';

const projection = loadProjection('account-webhooks');

/** given(past events).when(a command).thenEvents(new events) or .thenRefused(why) */
export function given(...events: readonly AccountEvent[]) {
  const state = stateOf(events);
  return { when: (command: Command) => outcome(decide(state, command)) };
}

export function decisionOn(events: readonly AccountEvent[], command: Command): Decision['kind'] {
  return decisionOf(events, command).kind;
}

export function decisionOf(events: readonly AccountEvent[], command: Command): Decision {
  return decide(stateOf(events), command);
}

export function stateOf(events: readonly AccountEvent[]) {
  return events.map((event, index) => ({ ...event, id: `event ${index}` })).reduce(foldWebhooks, NO_ACCOUNT);
}

function outcome(decision: Decision) {
  return {
    thenEvents: (...events: WebhookEvent[]) => expect(decision).toMatchObject({ kind: 'accepted', events }),
    thenUnchanged: (unchanged: WebhookVersion) =>
      expect(decision).toMatchObject({ kind: 'accepted', events: [], unchanged }),
    thenRefused: (kind: Exclude<Decision['kind'], 'accepted'>) => expect(decision).toMatchObject({ kind }),
  };
}

/** The state after the event; `before` stays as it is. */
export function foldWebhooks(before: AccountWebhooks, event: StoredAccountEvent): AccountWebhooks {
  const data = event.data as unknown as Record<string, unknown>;
  const recorded = { ...event, data, stream: 'account-42', revision: 1, position: '', metadata: {} };
  const folded = foldNext(projection, { state: before, revision: 0, eventId: '' }, recorded);
  if ('why' in folded) throw new Error(folded.why);
  return folded.state;
}
