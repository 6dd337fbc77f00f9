import { NO_STREAM } from '../../../src/ports/event-store.js';
import { type Accounts, isRouted, type Routes } from '../../../src/read-model/accounts.js';
import type { NoticeTarget } from '../../../src/webhooks/events.js';
import type { EventType } from '../../../src/webhooks/limits.js';
import type { AccountCredentials, FailingEndpoint, Recovery, Webhook } from '../../../src/webhooks/state.js';
import { ACCOUNT, named } from '../generators/delivery-samples.js';
import { AT } from '../generators/webhook-samples.js';

/** A read model that the test can change. It knows ACCOUNT; any account gets its secrets. */
export class FakeAccounts implements Accounts {
  secrets: AccountCredentials['signingSecrets'][number][] = [];
  /** The noted endpoints of ACCOUNT. */
  failing: FailingEndpoint[] = [];
  recoveries: Recovery[] = [];
  /** Of ACCOUNT. */
  notices: NoticeTarget | undefined;
  /** The revision of ACCOUNT: counts the changes. */
  revision = 0;
  /** Ids of removed webhooks of this history. */
  readonly removed = new Set<number>();
  /** Why ACCOUNT is set aside, which hides its webhooks; null: it is not. */
  aside: string | null = null;
  #all: Webhook[] = [];

  get #webhooks(): readonly Webhook[] {
    return this.aside === null ? this.#all : [];
  }

  unreadable(accountId: number): string | null {
    return accountId === ACCOUNT ? this.aside : null;
  }

  put(...webhooks: readonly Webhook[]): void {
    for (const webhook of webhooks) {
      this.remove(webhook.id);
      this.removed.delete(webhook.id);
      this.#all.push(webhook);
      this.revision += 1;
    }
  }

  remove(webhookId: number): void {
    this.removed.add(webhookId);
    const left = this.#all.filter(({ id }) => id !== webhookId);
    if (left.length < this.#all.length) this.revision += 1;
    this.#all = left;
  }

  async webhooks(accountId: number) {
    if (accountId !== ACCOUNT) return undefined;
    const { failing, recoveries, notices } = this;
    return { accountId, webhooks: this.#webhooks, failing, recoveries, ...(notices && { notices }) };
  }

  webhooksNow(accountId: number) {
    return this.webhooks(accountId);
  }

  routes(accountId: number, eventType: EventType): Routes {
    if (accountId !== ACCOUNT) return { revision: NO_STREAM, webhooks: [] };
    const isRoute = (webhook: Webhook) => webhook.eventType === eventType && isRouted(webhook);
    return { revision: this.revision, webhooks: this.#webhooks.filter(isRoute) };
  }

  webhook(accountId: number, webhookId: number): Webhook | undefined {
    return accountId === ACCOUNT ? this.#webhooks.find(({ id }) => id === webhookId) : undefined;
  }

  webhookIds(accountId: number): readonly number[] | null {
    return accountId === ACCOUNT ? this.#webhooks.map(({ id }) => id) : null;
  }

  failingEndpoint(accountId: number, endpoint: string): FailingEndpoint | undefined {
    if (accountId !== ACCOUNT) return undefined;
    return this.failing.find((failing) => failing.endpoint === endpoint);
  }

  async credential() {
    return undefined;
  }

  noticeTarget(accountId: number): NoticeTarget | undefined {
    return accountId === ACCOUNT ? this.notices : undefined;
  }

  async session() {
    return undefined;
  }

  async credentialsNow() {
    return undefined;
  }

  async signingSecrets() {
    return this.secrets;
  }
}

/** By default an active webhook for cash_in at https://shop.example.com/<id>, version 1, without headers. */
export function webhookOf(id: number, changes: Partial<Webhook> = {}): Webhook {
  const url = `https://shop.example.com/${id}`;
  const webhook = {
    ...named(id),
    eventType: 'cash_in',
    url,
    endpoint: url,
    headers: [],
    version: 1,
    isActive: true,
  } as const;
  return { ...webhook, createdAt: AT, ...changes };
}
