/** The recoveries of the account, and the dialog that is open about one URL. */
import { signal } from '@preact/signals';
import type { Recovery } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import { Button } from '../parts/button.js';
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

export const useRecoveries = () => useGot('/api/recoveries', {});

export const isOf = ({ webhookIds }: Recovery, { webhooks }: UrlHealth) =>
  webhooks.some(({ id }) => webhookIds.includes(id));

export const awaitedOf = ({ sent, delivered, failed }: Recovery) => sent - delivered - failed;

/** sent: all of them, and some have no answer yet. */
const LOOKS = {
  running: { tone: 'busy', icon: 'refresh' },
  sent: { tone: 'busy', icon: 'waiting' },
  done: { tone: 'good', icon: 'delivered' },
  stopped: { tone: 'muted', icon: 'stop' },
} as const;

export function lookOf(recovery: Recovery) {
  const shown = recovery.state === 'done' && awaitedOf(recovery) > 0 ? 'sent' : recovery.state;
  return { ...LOOKS[shown], name: texts.value.recover.states[shown] };
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
  const { id, webhookIds, state, count, sent } = recovery;
  const { recover: t } = texts.value;
  const { icon, name } = lookOf(recovery);
  const others = webhookIds.length - of.webhooks.filter((webhook) => webhookIds.includes(webhook.id)).length;
  const awaited = awaitedOf(recovery);
  const result = awaited > 0 ? `${t.result(recovery)}, ${t.awaited(awaited)}` : t.result(recovery);
  return (
    <li class={`card cluster recovering ${state}`}>
      <Icon name={icon} size={18} />
      <span class="recovering-url">
        <UrlText url={of.url} />
        {others > 0 && ` +${others}`}
      </span>
      <progress max={Math.max(1, count)} value={sent} aria-label={t.sent} />
      <span role="status">{state === 'running' ? t.of(sent, count) : `${name}: ${result}`}</span>
      <Button onClick={() => askRecovery(of, id)}>{t.open}</Button>
    </li>
  );
}
