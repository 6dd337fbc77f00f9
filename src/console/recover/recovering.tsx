/** The recoveries of the account, and the dialog that is open about one URL. */
import { signal } from '@preact/signals';
import type { Recovery } from '../api/shapes.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { UrlText } from '../parts/text.js';
import { now } from '../state/now.js';
import { useGot } from '../state/polled.js';
import type { UrlHealth } from '../state/urls.js';
import { texts } from '../texts/texts.js';

/** How long after its start it stands on the page how a recovery ended. */
const SHOWN_MS = 3_600_000;

export interface Asked {
  readonly of: UrlHealth;
  /** The recovery to show; null: the one that runs, or the form of a new one. */
  readonly id: string | null;
}

/** Of the dialog that is open. */
export const asked = signal<Asked | null>(null);

export function askRecovery(of: UrlHealth, id: string | null = null): void {
  asked.value = { of, id };
}

export function closeRecovery(): void {
  asked.value = null;
}

export const useRecoveries = () => useGot('/api/recoveries', {});

export const isOf = ({ webhookIds }: Recovery, { webhooks }: UrlHealth) =>
  webhooks.some(({ id }) => webhookIds.includes(id));

/** sent: all of them, and some have no answer yet. */
export const LOOKS = {
  running: { tone: 'busy', icon: 'refresh' },
  sent: { tone: 'busy', icon: 'waiting' },
  done: { tone: 'good', icon: 'delivered' },
  stopped: { tone: 'muted', icon: 'stop' },
} as const;

export function shownState({ state, sent, delivered, failed }: Recovery): keyof typeof LOOKS {
  return state === 'done' && sent > delivered + failed ? 'sent' : state;
}

/** Also those that were started elsewhere, or before the page was loaded; and how they ended. */
export function Recoveries({ urls }: { urls: readonly UrlHealth[] }) {
  const recoveries = useRecoveries().data?.recoveries ?? [];
  const shown = recoveries.flatMap((recovery) => {
    const url = urls.find((one) => isOf(recovery, one));
    const isRecent = recovery.state === 'running' || now.value - Date.parse(recovery.startedAt) < SHOWN_MS;
    return url && isRecent ? [{ recovery, url }] : [];
  });
  if (shown.length === 0) return null;
  return (
    <ul class="stack close" aria-label={texts.value.recover.running}>
      {shown.map(({ recovery, url }) => (
        <Strip key={recovery.id} recovery={recovery} of={url} />
      ))}
    </ul>
  );
}

function Strip({ recovery, of }: { recovery: Recovery; of: UrlHealth }) {
  const { id, webhookIds, state, count, sent, delivered, failed } = recovery;
  const { recover: t } = texts.value;
  const others = webhookIds.length - of.webhooks.filter((webhook) => webhookIds.includes(webhook.id)).length;
  const awaited = sent - delivered - failed;
  const result = [
    t.result(whole(sent), whole(delivered), whole(failed)),
    ...(awaited > 0 ? [t.awaited(whole(awaited))] : []),
  ].join(', ');
  return (
    <li class={`card cluster recovering ${state}`}>
      <Icon name={LOOKS[shownState(recovery)].icon} size={18} />
      <span class="recovering-url">
        <UrlText url={of.url} />
        {others > 0 && ` +${others}`}
      </span>
      <progress max={Math.max(1, count)} value={sent} aria-label={t.sent} />
      <span role="status">
        {state === 'running' ? t.of(whole(sent), whole(count)) : `${t.states[shownState(recovery)]}: ${result}`}
      </span>
      <button type="button" class="button" onClick={() => askRecovery(of, id)}>
        {t.open}
      </button>
    </li>
  );
}
