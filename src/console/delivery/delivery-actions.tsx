import { useState } from 'preact/hooks';
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { api, resultOf } from '../api/client.js';
import type { DetailedDelivery } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import { CopyButton } from '../parts/copy-button.js';
import { MissingRight } from '../parts/missing-right.js';
import { may } from '../state/session.js';
import { say } from '../state/toast.js';
import type { Webhook } from '../state/webhooks.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { curlOf } from './curl.js';

const CancelDelivery = lazy(async () => (await import('./cancel-delivery.js')).CancelDelivery);

interface ActionParts {
  readonly delivery: DetailedDelivery;
  readonly webhook: Webhook | null;
  /** A resend is on its way. */
  readonly isAwaited: boolean;
  readonly onResent: () => void;
  readonly onChanged: () => void;
}

export function DeliveryActions({ delivery, webhook, isAwaited, onResent, onChanged }: ActionParts) {
  const [isAsking, setAsking] = useState(false);
  const [isSending, setSending] = useState(false);
  const t = texts.value.delivery;
  const { id } = delivery;
  const resend = async () => {
    setSending(true);
    const result = await resultOf(api.POST('/api/deliveries/{id}/resend', { params: { path: { id } } }));
    setSending(false);
    if (result.kind === 'failed') return say('failed', whyOf(result, t.resendFailed));
    onResent();
    say('done', t.resent);
  };
  return (
    <>
      <div class="cluster">
        {may('resend') && (
          <button
            type="button"
            // Nobody has to send again what has arrived.
            class={delivery.outcome === 'delivered' ? 'button' : 'button primary'}
            disabled={isSending || isAwaited}
            onClick={resend}
          >
            <Icon name="resend" size={14} />
            {isSending || isAwaited ? t.resending : t.resend}
          </button>
        )}
        {may('resend') && (delivery.outcome === 'retrying' || delivery.sentAgain) && (
          <button type="button" class="button" onClick={() => setAsking(true)}>
            <Icon name="cancelled" size={14} />
            {t.cancel}
          </button>
        )}
        {webhook && delivery.payload !== null && (
          <CopyButton isNamed what={t.curl} value={() => curlOf(delivery, webhook)} />
        )}
        <CopyButton isNamed what={t.link} value={() => location.origin + location.pathname} />
      </div>
      {!may('resend') && <MissingRight right="resend" />}
      {isAsking && (
        <ErrorBoundary>
          <CancelDelivery delivery={delivery} onClose={() => setAsking(false)} onDone={onChanged} />
        </ErrorBoundary>
      )}
    </>
  );
}
