import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../api/client.js';
import type { DetailedDelivery } from '../api/shapes.js';
import { Fact } from '../parts/card.js';
import { Copied } from '../parts/copy-button.js';
import { OutcomeBadge, shownOutcome } from '../parts/outcome.js';
import { Freshness, Skeleton, staleness } from '../parts/screen-head.js';
import { EventName, Id, UrlText } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { paymentAddress } from '../state/addresses.js';
import { useGot } from '../state/polled.js';
import { unsay } from '../state/toast.js';
import { useHealth, useWebhook, type Webhook } from '../state/webhooks.js';
import { causeOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { DeliveryActions } from './delivery-actions.js';
import { PayloadCard, Request } from './payload.js';
import { type AskedAgain, type Phase, phaseOf } from './phase.js';
import { Timeline } from './timeline.js';

const EVERY_MS = 3_000;
/** While an attempt that was asked for is on its way; one that a breaker defers takes longer. */
const SOON_MS = 500;
const SOON_FOR_MS = 20_000;

interface ViewParts {
  readonly id: string;
  /** Of the screen of its payment, which shows what all destinations share. */
  readonly isPart?: boolean;
  readonly otherwise?: (failure: Failure) => preact.ComponentChildren;
}

/** A delivery: what became of it, what to do about it, and its timeline. */
export function DeliveryView({ id, isPart = false, otherwise }: ViewParts) {
  const [asked, ask] = useState<AskedAgain | null>(null);
  const isSoon = asked !== null && asked.until > Date.now();
  const found = useGot('/api/deliveries/{id}', { path: { id } }, { everyMs: isSoon ? SOON_MS : EVERY_MS });
  const delivery = found.data?.delivery;
  const webhook = useWebhook(delivery?.webhookId ?? null);
  const health = useHealth().data?.webhooks.find(({ webhookId }) => webhookId === delivery?.webhookId);
  const t = texts.value.delivery;
  const hasArrived = asked !== null && delivery !== undefined && delivery.attempts.length > asked.attempts;
  useEffect(() => {
    if (!hasArrived) return;
    unsay(t.resent);
    unsay(t.failing);
    ask(null);
  }, [hasArrived]);
  if (!delivery) return (found.failure && otherwise?.(found.failure)) || <Skeleton lines={isPart ? 2 : 7} of={found} />;
  const phase = phaseOf(delivery, health, asked, Date.now());
  return (
    <article class={`stack${isPart ? ' card' : ''}${staleness(found)}`}>
      <div class="stack tight">
        <Title delivery={delivery} webhook={webhook} isPart={isPart} />
        {found.failure && <Freshness of={found} />}
        <Story delivery={delivery} phase={phase} />
        <DeliveryActions
          delivery={delivery}
          webhook={webhook}
          phase={phase}
          isFailing={health?.state === 'failing'}
          onResent={() => ask({ attempts: delivery.attempts.length, until: Date.now() + SOON_FOR_MS })}
          onChanged={() => {
            ask(null);
            found.look();
          }}
        />
      </div>
      {!isPart && <DeliveryFacts delivery={delivery} webhook={webhook} />}
      <section aria-label={t.timeline} class={isPart ? '' : 'card'}>
        <h3>{t.timeline}</h3>
        <Timeline delivery={delivery} phase={phase} />
      </section>
      {!isPart && <PayloadCard payload={delivery.payload} until={delivery.payloadUntil} />}
      <Request delivery={delivery} />
    </article>
  );
}

interface OfDelivery {
  readonly delivery: DetailedDelivery;
  readonly webhook: Webhook | null;
}

function Title({ delivery, webhook, isPart }: OfDelivery & { isPart: boolean }) {
  const badge = <OutcomeBadge outcome={shownOutcome(delivery)} />;
  if (isPart)
    return (
      <h2 class="cluster">
        <UrlText url={urlOf(delivery, webhook) ?? texts.value.problems.webhook(delivery.webhookId)} />
        {badge}
      </h2>
    );
  return (
    <h1 class="cluster">
      <EventName type={delivery.eventType} /> <Id text={delivery.eventId} />
      {badge}
    </h1>
  );
}

const urlOf = (delivery: DetailedDelivery, webhook: Webhook | null) => webhook?.url ?? delivery.attempts.at(-1)?.url;

const isAccepted = ({ status }: { status: number | null }) => status !== null && status < 300;

/** What became of it, in one sentence, and what to do about it. */
function Story({ delivery: { attempts, outcome, ...delivery }, phase }: { delivery: DetailedDelivery; phase: Phase }) {
  const t = texts.value.delivery;
  const last = attempts.at(-1);
  // What was sent again after it had arrived did not bring it there.
  const first = attempts.findIndex(isAccepted);
  const count = outcome === 'delivered' && first >= 0 ? first + 1 : attempts.length;
  const isAgain = phase.kind === 'waiting' && phase.isAgain && outcome !== 'delivered';
  const [cause, remedy] = last ? causeOf(last.status, last.error) : [];
  return (
    <>
      <p>{isAgain ? t.again : t.story[shownOutcome({ outcome, held: delivery.held })](count)}</p>
      {last && !isAccepted(last) && outcome !== 'delivered' && (
        <p class="muted">
          <b>{cause}</b> {remedy}
        </p>
      )}
    </>
  );
}

function DeliveryFacts({ delivery, webhook }: OfDelivery) {
  const t = texts.value.delivery.facts;
  const url = urlOf(delivery, webhook);
  return (
    <section class="card">
      <dl class="facts">
        <Fact name={t.url}>{url ? <Copied value={url} what={t.url} /> : t.removed(delivery.webhookId)}</Fact>
        <Fact name={t.eventId}>
          <Copied value={delivery.eventId} what={t.eventId} />
          <a href={paymentAddress(delivery.eventId)}>{t.payment}</a>
        </Fact>
        <Fact name="webhook-id">
          <Copied value={delivery.id} what="webhook-id" />
        </Fact>
        {delivery.publishedAt && (
          <Fact name={texts.value.payments.published}>
            <TimeText at={delivery.publishedAt} />
          </Fact>
        )}
      </dl>
    </section>
  );
}
