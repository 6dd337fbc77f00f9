/** One account in an event store, with the real decisions and projection; processes read it late. */
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { type Accounts, isRouted } from '../../../src/read-model/accounts.js';
import { type Folded, foldNext, handedOut } from '../../../src/read-model/fold.js';
import { loadProjection } from '../../../src/read-model/projection-source.js';
import { type Command, decide } from '../../../src/webhooks/decide.js';
import type { AccountEvent } from '../../../src/webhooks/events.js';
import { accountStream } from '../../../src/webhooks/events.js';
import { type AccountWebhooks, NO_ACCOUNT, type Webhook } from '../../../src/webhooks/state.js';
import { ACCOUNT } from '../delivery-samples.js';
import { added, registered } from '../webhook-samples.js';
import type { Kernel, Process } from './kernel.js';

const PROJECTION = loadProjection('account-webhooks');
export const STORE = 'the store';

interface Happened extends RecordedEvent {
  readonly at: number;
}

export class SimAccount {
  readonly kernel: Kernel;
  readonly events: Happened[] = [];
  readonly #states: Folded<AccountWebhooks>[] = [];
  #appended: (() => void)[] = [];

  constructor(kernel: Kernel, webhookIds: readonly number[]) {
    this.kernel = kernel;
    this.#append([registered(ACCOUNT), ...webhookIds.map((id) => added(id))]);
  }

  /** After so many events; by default after all. */
  state(events = this.events.length): AccountWebhooks {
    return this.#states[events - 1]?.state ?? NO_ACCOUNT;
  }

  webhook(id: number): Webhook | undefined {
    return this.state().webhooks.find((webhook) => webhook.id === id);
  }

  /** Whether the delivery's webhook could be sent to at a time since then. */
  wasActiveSince(time: number, id: number): boolean {
    const before = this.events.filter(({ at }) => at <= time).length;
    const states = this.#states.slice(Math.max(0, before - 1));
    return states.every(({ state }) => state.webhooks.some((webhook) => webhook.id === id && webhook.isActive));
  }

  handle(command: Command): ReturnType<typeof decide> {
    const decision = decide(this.state(), command);
    if (decision.kind === 'accepted' && decision.events.length > 0) this.#append(decision.events);
    return decision;
  }

  #append(events: readonly AccountEvent[]): void {
    for (const { type, data } of events) {
      const revision = this.events.length;
      const id = `event-${revision}`;
      const event = {
        id,
        type,
        data: { ...data },
        metadata: {},
        stream: accountStream(ACCOUNT),
        revision,
        position: '',
      };
      this.events.push({ ...event, at: this.kernel.now });
      const next = foldNext<AccountWebhooks>(PROJECTION, this.#states.at(-1), event);
      if ('why' in next) throw new Error(`${type}: ${next.why}`);
      this.#states.push(handedOut(next));
      this.kernel.say('event', type, JSON.stringify(data));
    }
    const appended = this.#appended;
    this.#appended = [];
    for (const wake of appended) wake();
  }

  onAppend(wake: () => void): void {
    this.#appended.push(wake);
  }

  /** For the audit. */
  read = (by: Process) => {
    const account = this;
    return async function* read(stream: string): AsyncIterable<RecordedEvent> {
      await by.pause(1);
      const identity = { id: 'identity', stream, revision: 0, position: '', metadata: {} };
      if (stream === 'store-identity') yield { ...identity, type: 'StoreIdentified', data: { identity: STORE } };
      else if (stream === accountStream(ACCOUNT)) yield* [...account.events];
    };
  };
}

/** The read model of a process. */
export class SimReadModel {
  readonly #account: SimAccount;
  readonly #by: Process;
  #reached: number;

  constructor(account: SimAccount, by: Process) {
    this.#account = account;
    this.#by = by;
    this.#reached = account.events.length;
    this.#follow();
  }

  #follow(): void {
    const { kernel } = this.#by;
    const late = () => (kernel.chance(0.05) ? kernel.between(1_000, 6_000) : kernel.between(20, 400));
    const read = () => {
      this.#reached = this.#account.events.length;
      this.#follow();
    };
    this.#account.onAppend(this.#by.bound(() => void this.#by.after(late(), read)));
  }

  get state(): AccountWebhooks {
    return this.#account.state(this.#reached);
  }

  /** Fulfilled once it has all that the store had at the call. */
  readonly confirmed = async (): Promise<void> => {
    const head = await this.#by.call(20, () => this.#account.events.length);
    while (this.#reached < head) await this.#by.pause(50);
  };

  get accounts(): Accounts {
    const webhooks = () => this.state.webhooks;
    const now = () => this.#by.call(20, () => this.#account.state());
    const unused = async () => undefined;
    return {
      unreadable: () => null,
      webhooks: async () => this.state,
      webhooksNow: now,
      routes: () => ({ revision: this.#reached - 1, webhooks: webhooks().filter(isRouted) }),
      webhook: (_, id) => webhooks().find((webhook) => webhook.id === id),
      noticeTarget: () => undefined,
      webhookIds: () => webhooks().map(({ id }) => id),
      failingEndpoint: () => undefined,
      credential: unused,
      session: unused,
      credentialsNow: unused,
      signingSecrets: async () => [],
    };
  }

  readonly wasRemoved = (_: number, id: number): Promise<boolean> =>
    this.#by.call(20, () => !this.#account.webhook(id));

  readonly handleCommand = (_: number, command: Command) => this.#by.call(20, () => this.#account.handle(command));
}
