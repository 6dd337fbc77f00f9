import { useLocation, useRoute } from 'preact-iso/router';
import type { WebhookHealth } from '../api/shapes.js';
import { isolated } from '../format/untrusted.js';
import { Problem } from '../overview/problem.js';
import { isWrong } from '../overview/problems.js';
import { staleness } from '../parts/freshness.js';
import { Notice } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { Skeleton } from '../parts/skeleton.js';
import { UrlText } from '../parts/url-text.js';
import { askRecovery } from '../recover/recovering.js';
import { addressOf } from '../state/addresses.js';
import { may } from '../state/session.js';
import { useHealth, useWebhooks, type Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';
import { PauseOrActivate, Remove } from './changing.js';
import { EditWebhook, LastDay, LastDeliveries, Recoveries, Versions } from './lazily.js';
import { Test, TestButton, useTest } from './test-result.js';
import { WebhookFacts } from './webhook-facts.js';
import { StateBadge } from './webhook-state.js';

export function WebhookScreen() {
  const id = useRoute().params.id ?? '';
  const { route, query } = useLocation();
  const listed = useWebhooks();
  const healths = useHealth();
  const edit = (isOpen: boolean) => route(addressOf(`/webhooks/${id}`, { edit: isOpen ? '1' : null }), true);
  const test = useTest();
  const t = webhookTexts.value;
  const webhook = listed.data?.webhooks.find((one) => String(one.id) === id);
  const health = healths.data?.webhooks.find((one) => String(one.webhookId) === id);
  const look = () => {
    listed.look();
    healths.look();
  };
  if (!webhook && listed.data) return <NotThere id={id} />;
  const head = (
    <ScreenHead
      title={texts.value.screens.webhooks}
      href={addressOf('/webhooks')}
      of={healths.failure ? healths : listed}
    />
  );
  if (!webhook)
    return (
      <>
        {head}
        <Skeleton lines={7} />
      </>
    );
  return (
    <>
      {head}
      <div class={`stack${staleness(listed)}`}>
        <header class="stack close">
          <h1 class="cluster">
            <UrlText url={webhook.url} />
            {health && <StateBadge health={health} />}
          </h1>
          {may('configure') && (
            <div class="cluster">
              <TestButton test={test} webhookId={webhook.id} name={t.test} />
              <button type="button" class="button" onClick={() => edit(true)}>
                {t.edit}
              </button>
              <Changes webhook={webhook} health={health ?? null} onChanged={look} />
            </div>
          )}
        </header>
        <Test state={test.state} />
        <Recoveries health={health ? [health] : []} of={webhook.id} />
        {health && isWrong(health) && <Problem health={health} webhook={webhook} onChanged={look} />}
        <WebhookFacts webhook={webhook} health={health ?? null} />
        <LastDay webhookId={webhook.id} />
        <LastDeliveries webhookId={webhook.id} />
        <Versions webhook={webhook} />
      </div>
      {query.edit && may('configure') && (
        <EditWebhook
          webhook={webhook}
          webhooks={listed.data?.webhooks ?? []}
          onClose={() => edit(false)}
          onSaved={look}
        />
      )}
    </>
  );
}

interface ChangesParts {
  readonly webhook: Webhook;
  /** Null: not known yet. */
  readonly health: WebhookHealth | null;
  readonly onChanged: () => void;
}

function Changes({ webhook, health, onChanged }: ChangesParts) {
  const { route } = useLocation();
  const hasProblem = health !== null && isWrong(health);
  const waiting = health?.waiting ?? null;
  const leave = () => {
    onChanged();
    route(addressOf('/webhooks'));
  };
  return (
    <>
      {health && webhook.isActive && !hasProblem && (
        <button type="button" class="button" onClick={() => askRecovery(health)}>
          {texts.value.problems.recover}
        </button>
      )}
      {(webhook.isActive || !hasProblem) && (
        <PauseOrActivate webhook={webhook} waiting={waiting} onChanged={onChanged} />
      )}
      <Remove webhook={webhook} waiting={waiting} onChanged={leave} />
    </>
  );
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
