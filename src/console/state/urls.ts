/** The account's webhooks by URL: what fails, is tested and recovered is one URL with its types. */
import type { Webhook, WebhookHealth } from '../api/shapes.js';
import { useHealth, useWebhooks } from './webhooks.js';

/** paused: by the account. off: by the service. */
export type UrlState = Exclude<WebhookHealth['state'], 'off'> | 'off' | 'paused';

export interface UrlHealth {
  readonly url: string;
  readonly webhooks: readonly Webhook[];
  /** Of its webhooks, as far as it is known: the worst first. */
  readonly healths: readonly WebhookHealth[];
  /** The worst of them; null: not known yet. */
  readonly state: UrlState | null;
  readonly since: string | null;
  readonly waiting: number;
  readonly held: number;
  readonly deactivatesAt: string | null;
  readonly lastSuccessAt: string | null;
  readonly lastFailure: WebhookHealth['lastFailure'];
}

const BY_SEVERITY: readonly UrlState[] = ['off', 'failing', 'unsteady', 'healthy', 'untried', 'paused'];

export const stateOf = ({ state, offBy }: WebhookHealth): UrlState =>
  state === 'off' && offBy === 'account' ? 'paused' : state;

export function useUrls() {
  const listed = useWebhooks();
  const healths = useHealth();
  const look = () => {
    listed.look();
    healths.look();
  };
  const of = healths.failure ? healths : listed;
  const urls = listed.data && urlsOf(listed.data.webhooks, healths.data?.webhooks ?? []);
  return { of, urls, isHealthKnown: healths.data !== null, look };
}

/** In the order of their first webhooks. */
function urlsOf(webhooks: readonly Webhook[], healths: readonly WebhookHealth[]): readonly UrlHealth[] {
  return [...new Set(webhooks.map(({ url }) => url))].map((url) => {
    const ofUrl = webhooks.filter((webhook) => webhook.url === url);
    const ids = new Set(ofUrl.map(({ id }) => id));
    const own = healths
      .filter(({ webhookId }) => ids.has(webhookId))
      .sort((a, b) => BY_SEVERITY.indexOf(stateOf(a)) - BY_SEVERITY.indexOf(stateOf(b)));
    return joined(url, ofUrl, own);
  });
}

function joined(url: string, webhooks: readonly Webhook[], healths: readonly WebhookHealth[]): UrlHealth {
  const [worst] = healths;
  const sum = (name: 'waiting' | 'held') => healths.reduce((total, one) => total + one[name], 0);
  const times = (name: 'deactivatesAt' | 'lastSuccessAt') =>
    healths.flatMap((one) => one[name] ?? []).sort((a, b) => Date.parse(a) - Date.parse(b));
  const failures = healths.flatMap(({ lastFailure }) => lastFailure ?? []);
  return {
    url,
    webhooks,
    healths,
    state: worst ? stateOf(worst) : null,
    since: worst?.since ?? null,
    waiting: sum('waiting'),
    held: sum('held'),
    deactivatesAt: times('deactivatesAt')[0] ?? null,
    lastSuccessAt: times('lastSuccessAt').at(-1) ?? null,
    lastFailure: failures.sort((a, b) => Date.parse(a.at) - Date.parse(b.at)).at(-1) ?? null,
  };
}

/** What the account paused itself is as it wants it to be, unless deliveries are kept for it. */
export const isWrong = ({ state, held }: UrlHealth) =>
  state === 'failing' || state === 'unsteady' || state === 'off' || held > 0;

/** Its last attempt was refused: what is sent now is refused again. */
export const isRefusing = ({ lastFailure, lastSuccessAt }: Pick<UrlHealth, 'lastFailure' | 'lastSuccessAt'>) =>
  lastFailure !== null && (lastSuccessAt === null || Date.parse(lastSuccessAt) < Date.parse(lastFailure.at));

/** Something is kept for it that it would take now. */
export const isRecoverable = (of: UrlHealth) => of.waiting + of.held > 0 && !isRefusing(of);

export const isOff = ({ state }: UrlHealth) => state === 'off' || state === 'paused';
