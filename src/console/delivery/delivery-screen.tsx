import { useEffect, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { filtersOf } from '../deliveries/filters.js';
import { isolated } from '../format/untrusted.js';
import { staleness } from '../parts/freshness.js';
import { part } from '../parts/lazily.js';
import { Notice } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { Skeleton } from '../parts/skeleton.js';
import { addressOf } from '../state/addresses.js';
import { now } from '../state/now.js';
import { type Polled, useGot } from '../state/polled.js';
import { unsay } from '../state/toast.js';
import { useIsFailing, useWebhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { DeliveryActions } from './delivery-actions.js';
import { DeliveryFacts } from './delivery-facts.js';
import { DeliveryHead } from './delivery-head.js';
import { Payload } from './payload.js';
import { Timeline } from './timeline.js';

/** Last on the page, and closed. */
const Request = part(async () => (await import('./request.js')).Request);

const EVERY_MS = 3_000;
/** While an attempt that was asked for is on its way; one that a breaker defers takes longer. */
const SOON_MS = 500;
const SOON_FOR_MS = 20_000;
const NOT_AWAITED = { attempts: -1, until: 0 };

export function DeliveryScreen() {
  const id = useRoute().params.id ?? '';
  const [awaited, setAwaited] = useState(NOT_AWAITED);
  const isAwaiting = awaited.until > now.value;
  const found = useGot('/api/deliveries/{id}', { path: { id } }, { everyMs: isAwaiting ? SOON_MS : EVERY_MS });
  const delivery = found.data?.delivery;
  const webhook = useWebhook(delivery?.webhookId ?? null);
  const isFailing = useIsFailing(delivery?.webhookId);
  const t = texts.value.delivery;
  const hasArrived = awaited.until > 0 && delivery !== undefined && delivery.attempts.length > awaited.attempts;
  useEffect(() => {
    if (!hasArrived) return;
    unsay(t.resent);
    unsay(t.failing);
  }, [hasArrived]);
  if (!delivery) return found.failure?.status === 404 ? <NotThere id={id} /> : <Loading polled={found} />;
  // A URL that fails or is paused is tried in its own time: what waits for that is shown as waiting, not as being sent.
  const waitsForUrl = delivery.waitingFor === 'endpoint-failing' || delivery.waitingFor === 'endpoint-paused';
  const isWaiting = waitsForUrl || (isFailing && (delivery.outcome === 'retrying' || delivery.sentAgain));
  const isAwaited = isAwaiting && !isWaiting && delivery.attempts.length === awaited.attempts;
  const onResent = () => setAwaited({ attempts: delivery.attempts.length, until: Date.now() + SOON_FOR_MS });
  return (
    <>
      <Head polled={found} />
      <div class={`stack${staleness(found)}`}>
        <DeliveryHead delivery={delivery}>
          <DeliveryActions
            delivery={delivery}
            webhook={webhook}
            isAwaited={isAwaited}
            isFailing={isFailing}
            onResent={onResent}
            onChanged={() => {
              setAwaited(NOT_AWAITED);
              found.look();
            }}
          />
        </DeliveryHead>
        <div class="columns">
          <section class="card" aria-label={t.timeline}>
            <h2>{t.timeline}</h2>
            <Timeline
              delivery={delivery}
              isAwaited={isAwaited || (!isFailing && delivery.sentAgain && delivery.outcome === 'delivered')}
              isFailing={isFailing}
            />
          </section>
          <div class="stack">
            <DeliveryFacts delivery={delivery} webhook={webhook} />
            <Payload delivery={delivery} />
            <Request delivery={delivery} />
          </div>
        </div>
      </div>
    </>
  );
}

function Head({ polled }: { polled: Polled<unknown> }) {
  return <ScreenHead title={texts.value.screens.deliveries} href={useListAddress()} of={polled} />;
}

/** The list as it was filtered when the delivery was opened there. */
const useListAddress = () => addressOf('/deliveries', filtersOf(useLocation().query));

function Loading({ polled }: { polled: Polled<unknown> }) {
  return (
    <>
      <Head polled={polled} />
      <Skeleton lines={7} />
    </>
  );
}

function NotThere({ id }: { id: string }) {
  const { delivery: t, deliveries } = texts.value;
  return (
    <Notice icon="search" title={t.notThere.title}>
      <p>{t.notThere.text(isolated(id))}</p>
      <a class="button" href={useListAddress()}>
        {deliveries.all}
      </a>
    </Notice>
  );
}
