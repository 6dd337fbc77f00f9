import type { WebhookHealth } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { NoWebhooks } from './no-webhooks.js';
import { Problem } from './problem.js';

/** First what is wrong, then that the rest is well. */
export function Problems({ health, onChanged }: { health: readonly WebhookHealth[]; onChanged: () => void }) {
  const webhooks = useWebhooks().data?.webhooks;
  const t = texts.value.problems;
  if (webhooks?.length === 0) return <NoWebhooks />;
  const wrong = health.filter(isWrong);
  const healthy = health.filter(({ state }) => state === 'healthy').length;
  return (
    <section class="problems" aria-label={t.label}>
      {wrong.map((one) => (
        <Problem
          key={one.webhookId}
          health={one}
          webhook={webhooks?.find(({ id }) => id === one.webhookId) ?? null}
          onChanged={onChanged}
        />
      ))}
      {(wrong.length === 0 || healthy > 0) && (
        <p class="well">
          <Icon name={wrong.length === 0 ? 'delivered' : 'check'} />
          {wrong.length === 0 ? t.allWell(healthy, health.length - healthy) : t.othersWell(healthy)}
        </p>
      )}
    </section>
  );
}

/** What the account switched off itself is as it wants it to be, unless deliveries are kept for it. */
export function isWrong({ state, offBy, held }: WebhookHealth): boolean {
  return state === 'failing' || held > 0 || (state === 'off' && offBy === 'service');
}
