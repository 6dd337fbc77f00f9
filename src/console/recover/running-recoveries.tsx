import type { Recovery, WebhookHealth } from '../api/shapes.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { UrlText } from '../parts/url-text.js';
import { useWebhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { askRecovery, useRecoveries } from './recovering.js';

/** Also those that were started elsewhere, or before the page was loaded. */
export function RunningRecoveries({ health }: { health: readonly WebhookHealth[] }) {
  const running = useRecoveries().data?.recoveries.filter(({ state }) => state === 'running') ?? [];
  if (running.length === 0) return null;
  return (
    <ul class="stack close" aria-label={texts.value.recover.running}>
      {running.map((recovery) => (
        <Running
          key={recovery.id}
          recovery={recovery}
          health={health.find(({ webhookId }) => webhookId === recovery.webhookId)}
        />
      ))}
    </ul>
  );
}

function Running({ recovery, health }: { recovery: Recovery; health: WebhookHealth | undefined }) {
  const { webhookId, count, sent } = recovery;
  const webhook = useWebhook(webhookId);
  const t = texts.value.recover;
  return (
    <li class="card cluster recovering">
      <Icon name="refresh" size={18} />
      <span class="recovering-url">
        {webhook ? <UrlText url={webhook.url} /> : texts.value.problems.webhook(webhookId)}
      </span>
      <progress max={Math.max(1, count)} value={sent} aria-label={t.sent} />
      <span>{t.of(whole(sent), whole(count))}</span>
      {health && (
        <button type="button" class="button" onClick={() => askRecovery(health)}>
          {t.open}
        </button>
      )}
    </li>
  );
}
