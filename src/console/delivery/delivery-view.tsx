import { useState } from 'preact/hooks';
import { post } from '../api/client.js';
import type { DetailedDelivery } from '../api/shapes.js';
import { ActionButton } from '../parts/action.js';
import { CopyButton } from '../parts/copy-button.js';
import { MissingRight } from '../parts/notice.js';
import { OutcomeBadge, shownOutcome } from '../parts/outcome.js';
import { Freshness, Skeleton, staleness } from '../parts/screen-head.js';
import { UrlText } from '../parts/text.js';
import { deliveryAddress } from '../state/addresses.js';
import { useGot } from '../state/polled.js';
import { may } from '../state/session.js';
import { useHealth, useWebhooks } from '../state/webhooks.js';
import { causeOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { curlOf } from './curl.js';
import { Request } from './payload.js';
import { type AskedAgain, type Phase, phaseOf } from './phase.js';
import { Timeline } from './timeline.js';

const EVERY_MS = 3_000;
/** While an attempt that was asked for is on its way; one that a breaker defers takes longer. */
const SOON_MS = 500;
const SOON_FOR_MS = 20_000;

/** A destination of a payment: what became of it there, what to do about it, and its timeline. */
export function DeliveryView({ id }: { id: string }) {
  const [asked, ask] = useState<AskedAgain | null>(null);
  const isSoon = asked !== null && asked.until > Date.now();
  const found = useGot('/api/deliveries/{id}', { path: { id } }, { everyMs: isSoon ? SOON_MS : EVERY_MS });
  const delivery = found.data?.delivery;
  const webhook = useWebhooks().data?.webhooks.find(({ id }) => id === delivery?.webhookId);
  const health = useHealth().data?.webhooks.find(({ webhookId }) => webhookId === delivery?.webhookId);
  const isMade = asked !== null && delivery !== undefined && delivery.attempts.length > asked.attempts;
  if (isMade) ask(null);
  // A list shows its id, but the process that was asked has not read as far yet.
  if (!delivery && found.failure?.status === 404) return <p class="card">{texts.value.delivery.story.retrying(0)}</p>;
  if (!delivery) return <Skeleton of={found} />;
  const { timeline } = texts.value.delivery;
  const phase = phaseOf(delivery, health, asked, Date.now());
  const url = webhook?.url ?? delivery.attempts.at(-1)?.url;
  return (
    <article class={`card stack${staleness(found)}`}>
      <div class="stack tight">
        <h2 class="cluster">
          {url ? <UrlText url={url} /> : texts.value.problems.webhook(delivery.webhookId)}
          <OutcomeBadge outcome={shownOutcome(delivery)} />
        </h2>
        {found.failure && <Freshness of={found} />}
        <Story delivery={delivery} phase={phase} />
        <DeliveryActions
          delivery={delivery}
          url={url}
          isSending={phase.kind === 'sending'}
          onResent={() => ask({ attempts: delivery.attempts.length, until: Date.now() + SOON_FOR_MS })}
          onChanged={() => {
            ask(null);
            found.look();
          }}
        />
      </div>
      <section class="stack" aria-label={timeline}>
        <h3>{timeline}</h3>
        <Timeline delivery={delivery} phase={phase} />
      </section>
      <Request delivery={delivery} />
    </article>
  );
}

interface ActionParts {
  readonly delivery: DetailedDelivery;
  readonly url: string | null | undefined;
  readonly isSending: boolean;
  readonly onResent: () => void;
  readonly onChanged: () => void;
}

function DeliveryActions({ delivery, url, isSending, onResent, onChanged }: ActionParts) {
  const { delivery: t, dialogs } = texts.value;
  const { id, outcome, sentAgain } = delivery;
  const params = { path: { id } };
  const hasArrived = outcome === 'delivered';
  return (
    <>
      <div class="cluster">
        {may('resend') && !delivery.endedBy && (
          <ActionButton
            kind={hasArrived ? undefined : 'primary'}
            isDisabled={isSending}
            call={() => post('/api/deliveries/{id}/resend', { params })}
            // What has arrived is booked: its receiver has to recognize the second one.
            question={hasArrived ? { ...dialogs.resendingDelivered, yes: t.resend } : undefined}
            // The button and the timeline show that it is being sent.
            done={null}
            onDone={onResent}
          >
            {isSending ? t.resending : t.resend}
          </ActionButton>
        )}
        {may('resend') && (outcome === 'retrying' || sentAgain) && (
          <ActionButton
            call={() => post('/api/deliveries/{id}/cancel', { params })}
            question={{ ...dialogs.cancelling, isDanger: true }}
            onDone={onChanged}
          >
            {t.cancel}
          </ActionButton>
        )}
        {url && delivery.payload !== null && <CopyButton isNamed what={t.curl} value={() => curlOf(delivery, url)} />}
        <CopyButton isNamed what={t.link} value={() => location.origin + deliveryAddress(id)} />
      </div>
      {!may('resend') && <MissingRight right="resend" />}
    </>
  );
}

const isAccepted = ({ status }: { status: number | null }) => status !== null && status < 300;

/** What became of it, in one sentence, and what to do about it. */
function Story({ delivery: { attempts, outcome, ...delivery }, phase }: { delivery: DetailedDelivery; phase: Phase }) {
  const t = texts.value.delivery;
  const last = attempts.at(-1);
  // What was sent again after it had arrived did not bring it there.
  const first = attempts.findIndex(isAccepted);
  const count = outcome === 'delivered' && first >= 0 ? first + 1 : attempts.length;
  const isAgain = phase.kind === 'waiting' && phase.isAgain && outcome !== 'delivered';
  const [cause, remedy] = last ? causeOf(last) : [];
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
