import { useState } from 'preact/hooks';
import { ErrorBoundary } from 'preact-iso/lazy';
import { useLocation, useRoute } from 'preact-iso/router';
import { isolated } from '../format/untrusted.js';
import { Problem } from '../overview/problem.js';
import { isWrong } from '../overview/problems.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { Notice } from '../parts/notice.js';
import { Skeleton } from '../parts/skeleton.js';
import { UrlText } from '../parts/url-text.js';
import { askRecovery } from '../recover/recovering.js';
import { addressOf } from '../state/addresses.js';
import { may } from '../state/session.js';
import { useHealth, useWebhooks } from '../state/webhooks.js';
import { webhookTexts } from '../texts/webhooks.js';
import { PauseOrActivate, Remove } from './changing.js';
import { EditWebhook, LastDay, LastDeliveries, Versions } from './lazily.js';
import { Test, useTest } from './test-result.js';
import { WebhookFacts } from './webhook-facts.js';
import { StateBadge } from './webhook-state.js';

export function WebhookScreen() {
  const id = useRoute().params.id ?? '';
  const { route } = useLocation();
  const listed = useWebhooks();
  const healths = useHealth();
  const [isEditing, edit] = useState(false);
  const test = useTest();
  const t = webhookTexts.value;
  const webhook = listed.data?.webhooks.find((one) => String(one.id) === id);
  const health = healths.data?.webhooks.find((one) => String(one.webhookId) === id);
  // Its own box has the remedy.
  const hasProblem = health !== undefined && isWrong(health);
  const look = () => {
    listed.look();
    healths.look();
  };
  if (!webhook) return listed.data ? <NotThere id={id} /> : <Skeleton lines={7} />;
  return (
    <>
      <header class="screen-head">
        <a class="crumb" href={addressOf('/webhooks')}>
          {t.title}
        </a>
        <Freshness of={healths.failure ? healths : listed} />
      </header>
      <div class={`stack${staleness(listed)}`}>
        <header class="hook-title">
          <h1>
            <UrlText url={webhook.url} />
            {health && <StateBadge health={health} />}
          </h1>
          {may('configure') && (
            <div class="hook-actions">
              <button
                type="button"
                class="button"
                disabled={test.state.kind === 'testing'}
                onClick={() => test.run(webhook.id)}
              >
                {t.test}
              </button>
              <button type="button" class="button" onClick={() => edit(true)}>
                {t.edit}
              </button>
              {health && webhook.isActive && !hasProblem && (
                <button type="button" class="button" onClick={() => askRecovery(health)}>
                  {t.recover}
                </button>
              )}
              {(webhook.isActive || !hasProblem) && <PauseOrActivate webhook={webhook} onChanged={look} />}
              <Remove webhook={webhook} onChanged={() => leave(route, listed.look)} />
            </div>
          )}
        </header>
        <Test state={test.state} />
        {hasProblem && <Problem health={health} webhook={webhook} onChanged={look} />}
        <WebhookFacts webhook={webhook} health={health ?? null} />
        <ErrorBoundary>
          <LastDay webhookId={webhook.id} />
        </ErrorBoundary>
        <ErrorBoundary>
          <LastDeliveries webhookId={webhook.id} />
        </ErrorBoundary>
        <ErrorBoundary>
          <Versions webhook={webhook} />
        </ErrorBoundary>
      </div>
      {isEditing && (
        <ErrorBoundary>
          <EditWebhook
            webhook={webhook}
            webhooks={listed.data?.webhooks ?? []}
            onClose={() => edit(false)}
            onSaved={look}
          />
        </ErrorBoundary>
      )}
    </>
  );
}

function leave(route: (address: string) => void, look: () => void): void {
  look();
  route(addressOf('/webhooks'));
}

function NotThere({ id }: { id: string }) {
  const t = webhookTexts.value.detail;
  return (
    <Notice icon="search" title={t.notThere}>
      <p>{t.notThereText(isolated(id))}</p>
      <a class="button" href={addressOf('/webhooks')}>
        {t.back}
      </a>
    </Notice>
  );
}
