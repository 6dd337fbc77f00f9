import type { WebhookHealth } from '../api/shapes.js';
import { Copied } from '../parts/copy-button.js';
import { EventName } from '../parts/event-name.js';
import { Fact } from '../parts/fact.js';
import { TimeText } from '../parts/time-text.js';
import { Untrusted } from '../parts/untrusted.js';
import type { Webhook } from '../state/webhooks.js';
import { reasonOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';
import { LastEvent } from './webhook-state.js';

/** The values of headers are secrets: only the form that edits them has them. */
export function WebhookFacts({ webhook, health }: { webhook: Webhook; health: WebhookHealth | null }) {
  const t = webhookTexts.value;
  const { facts } = texts.value.delivery;
  const names = Object.keys(webhook.headers);
  return (
    <section class="card" aria-label={t.detail.facts}>
      <dl class="facts">
        <Fact name={facts.url}>
          <Copied value={webhook.url} what={facts.url} />
        </Fact>
        <Fact name={facts.eventType}>
          <span>
            <EventName type={webhook.type} /> <code>{webhook.type}</code>
          </span>
        </Fact>
        {health && (
          <Fact name={t.detail.state}>
            <span>
              <LastEvent health={health} />
            </span>
            {health.reason && (
              <small>
                {t.detail.why} <Untrusted text={reasonOf(health.reason)} />
              </small>
            )}
          </Fact>
        )}
        {health?.since && (
          <Fact name={t.detail.since}>
            <TimeText at={health.since} />
          </Fact>
        )}
        <Fact name={t.detail.headers}>
          {names.length > 0 ? (
            <code>
              <Untrusted text={names.join(', ')} />
            </code>
          ) : (
            t.detail.none
          )}
        </Fact>
        <Fact name={t.detail.created}>
          <TimeText at={webhook.createdAt} />
        </Fact>
      </dl>
    </section>
  );
}
