import { useState } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import { EventName } from '../parts/event-name.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { NoWebhooks } from '../parts/no-webhooks.js';
import { Skeleton } from '../parts/skeleton.js';
import { may } from '../state/session.js';
import { useHealth, useWebhooks, type Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';
import { EditWebhook, Receivers } from './lazily.js';
import { WebhookRow } from './webhook-row.js';

/** More than these would be too many calls. */
const MOST_COUNTED = 21;

export function WebhooksScreen() {
  const listed = useWebhooks();
  const health = useHealth();
  const [isAdding, add] = useState(false);
  const t = webhookTexts.value;
  const look = () => {
    listed.look();
    health.look();
  };
  const webhooks = listed.data?.webhooks;
  const healthOf = (id: number) => health.data?.webhooks.find(({ webhookId }) => webhookId === id) ?? null;
  return (
    <>
      <header class="screen-head">
        <h1>{texts.value.screens.webhooks}</h1>
        <div class="cluster">
          <Freshness of={health.failure ? health : listed} />
          {may('configure') && webhooks && webhooks.length > 0 && (
            <button type="button" class="button primary" onClick={() => add(true)}>
              <Icon name="add" size={14} />
              {t.add}
            </button>
          )}
        </div>
      </header>
      {!webhooks ? (
        <Skeleton lines={5} />
      ) : webhooks.length === 0 ? (
        <div class="stack">
          <NoWebhooks onAdd={() => add(true)} />
          <Receivers />
        </div>
      ) : (
        <div class={`stack${staleness(listed)}`}>
          {[...byType(webhooks)].map(([type, ofType]) => (
            <section key={type} class="card flush">
              <header class="split hooks-head">
                <h2>
                  <EventName type={type} /> <code class="muted">{type}</code>
                </h2>
                <small>{t.active(ofType.filter(({ isActive }) => isActive).length)}</small>
              </header>
              <ul>
                {ofType.map((webhook) => (
                  <WebhookRow
                    key={webhook.id}
                    webhook={webhook}
                    health={healthOf(webhook.id)}
                    isCounted={webhooks.length <= MOST_COUNTED}
                    onChanged={look}
                  />
                ))}
              </ul>
            </section>
          ))}
          <Unused webhooks={webhooks} />
        </div>
      )}
      {isAdding && webhooks && (
        <EditWebhook webhook={null} webhooks={webhooks} onClose={() => add(false)} onSaved={look} />
      )}
    </>
  );
}

function Unused({ webhooks }: { webhooks: readonly Webhook[] }) {
  const names = texts.value.eventTypes;
  const unused = (Object.keys(names) as Webhook['type'][]).filter((one) => !webhooks.some(({ type }) => type === one));
  if (unused.length === 0) return null;
  return (
    <p class="source muted note">
      {webhookTexts.value.unused} {unused.map((type) => names[type]).join(', ')}
    </p>
  );
}

/** In the order of the types' names in the texts. */
function byType(webhooks: readonly Webhook[]): Map<Webhook['type'], Webhook[]> {
  const types = Object.keys(texts.value.eventTypes) as Webhook['type'][];
  const pairs = types.map((type) => [type, webhooks.filter((webhook) => webhook.type === type)] as const);
  return new Map(pairs.filter(([, ofType]) => ofType.length > 0));
}
