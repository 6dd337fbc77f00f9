/** The recoveries of the account, and the dialog that is open about one URL. */
import { signal } from '@preact/signals';
import type { Recovery } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import { Button } from '../parts/button.js';
import { UrlText } from '../parts/text.js';
import { useGot } from '../state/polled.js';
import type { UrlHealth } from '../state/urls.js';
import { texts } from '../texts/texts.js';

/** A webhook of the URL that the open dialog is about: by its id, for what is known of it changes meanwhile. */
export const asked = signal<number | null>(null);

export function askRecovery({ webhooks: [first] }: Pick<UrlHealth, 'webhooks'>): void {
  asked.value = first?.id ?? null;
}

export const useRecoveries = () => useGot('/api/recoveries', {});

export const isOf = ({ webhookIds }: Recovery, { webhooks }: UrlHealth) =>
  webhooks.some(({ id }) => webhookIds.includes(id));

export const LOOKS = {
  running: { tone: 'busy', icon: 'waiting' },
  done: { tone: 'good', icon: 'delivered' },
  stopped: { tone: 'muted', icon: 'stop' },
} as const;

/** Those that run, also where they were started elsewhere or before the page was loaded. */
export function Recoveries({ urls }: { urls: readonly UrlHealth[] }) {
  const running = useRecoveries().data?.recoveries.filter(({ state }) => state === 'running') ?? [];
  const t = texts.value.recover;
  const shown = running.flatMap((recovery) => {
    const of = urls.find((one) => isOf(recovery, one));
    return of ? [{ ...recovery, of }] : [];
  });
  if (shown.length === 0) return null;
  return (
    <ul class="stack" aria-label={t.running}>
      {shown.map(({ id, of, count, sent }) => (
        <li key={id} class="card cluster">
          <Icon name={LOOKS.running.icon} size={18} />
          <UrlText url={of.url} />
          <progress max={Math.max(1, count)} value={sent} aria-label={t.sent} />
          <span role="status">{t.of(sent, count)}</span>
          <Button onClick={() => askRecovery(of)}>{t.open}</Button>
        </li>
      ))}
    </ul>
  );
}
