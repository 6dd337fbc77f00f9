import { useEffect } from 'preact/hooks';
import type { Recovery, WebhookHealth } from '../api/shapes.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { UrlText } from '../parts/url-text.js';
import { useWebhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { askRecovery, dismiss, follow, followed, LOOKS, shownState, useRecoveries } from './recovering.js';

interface RunningParts {
  readonly health: readonly WebhookHealth[];
  /** Of one webhook alone. Default: of all. */
  readonly of?: number;
}

/** Also those that were started elsewhere, or before the page was loaded; and how they ended. */
export function RunningRecoveries({ health, of }: RunningParts) {
  const recoveries = useRecoveries().data?.recoveries ?? [];
  const isRunning = ({ state }: Recovery) => state === 'running';
  useEffect(() => {
    for (const { id } of recoveries.filter(isRunning)) follow(id);
  }, [recoveries]);
  const shown = recoveries.filter(
    (one) => (of === undefined || one.webhookIds.includes(of)) && (isRunning(one) || followed.value.has(one.id)),
  );
  if (shown.length === 0) return null;
  return (
    <ul class="stack close" aria-label={texts.value.recover.running}>
      {shown.map((recovery) => (
        <Strip
          key={recovery.id}
          recovery={recovery}
          health={health.find(({ webhookId }) => recovery.webhookIds.includes(webhookId))}
        />
      ))}
    </ul>
  );
}

function Strip({ recovery, health }: { recovery: Recovery; health: WebhookHealth | undefined }) {
  const { id, webhookIds, state, count, sent, delivered, failed } = recovery;
  const [webhookId = 0, ...others] = webhookIds;
  const webhook = useWebhook(webhookId);
  const t = texts.value;
  const isRunning = state === 'running';
  const awaited = sent - delivered - failed;
  const result = [
    t.recover.result(whole(sent), whole(delivered), whole(failed)),
    ...(awaited > 0 ? [t.recover.awaited(whole(awaited))] : []),
  ].join(', ');
  return (
    <li class={`card cluster recovering ${state}`}>
      <Icon name={LOOKS[shownState(recovery)].icon} size={18} />
      <span class="recovering-url">
        {webhook ? <UrlText url={webhook.url} /> : t.problems.webhook(webhookId)}
        {others.length > 0 && ` +${others.length}`}
      </span>
      <progress max={Math.max(1, count)} value={sent} aria-label={t.recover.sent} />
      <span role="status">
        {isRunning ? t.recover.of(whole(sent), whole(count)) : `${t.recover.states[shownState(recovery)]}: ${result}`}
      </span>
      {isRunning && health && (
        <button type="button" class="button" onClick={() => askRecovery(health, id)}>
          {t.recover.open}
        </button>
      )}
      {!isRunning && (
        <button type="button" class="button" onClick={() => dismiss(id)}>
          {t.close}
        </button>
      )}
    </li>
  );
}
