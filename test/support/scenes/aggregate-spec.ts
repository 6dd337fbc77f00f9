import { type Command, type Decision, decide, type WebhookVersion } from '../../../src/webhooks/decide.js';
import type { AccountEvent, WebhookEvent } from '../../../src/webhooks/events.js';
import { NO_ACCOUNT } from '../../../src/webhooks/state.js';
import { foldWebhooks } from '../oracles/fold-webhooks.js';

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
