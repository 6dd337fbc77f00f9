import { useState } from 'preact/hooks';
import { api, resultOf } from '../api/client.js';
import type { DetailedDelivery } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import { CopyButton } from '../parts/copy-button.js';
import { dialog } from '../parts/lazily.js';
import { MissingRight } from '../parts/missing-right.js';
import { may } from '../state/session.js';
import { say } from '../state/toast.js';
import type { Webhook } from '../state/webhooks.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { curlOf } from './curl.js';

const CancelDelivery = dialog(async () => (await import('./cancel-delivery.js')).CancelDelivery);
const ResendDelivered = dialog(async () => (await import('./resend-delivered.js')).ResendDelivered);

interface ActionParts {
  readonly delivery: DetailedDelivery;
  readonly webhook: Webhook | null;
  /** A resend is on its way. */
  readonly isAwaited: boolean;
  /** Its URL. */
  readonly isFailing: boolean;
  readonly onResent: () => void;
  readonly onChanged: () => void;
}

export function DeliveryActions({ delivery, webhook, isAwaited, isFailing, onResent, onChanged }: ActionParts) {
  const [asked, ask] = useState<'cancel' | 'resend' | null>(null);
  const [isSending, setSending] = useState(false);
  const t = texts.value.delivery;
  const { id } = delivery;
  const hasArrived = delivery.outcome === 'delivered';
  const close = () => ask(null);
  const resend = async () => {
    setSending(true);
    const result = await resultOf(api.POST('/api/deliveries/{id}/resend', { params: { path: { id } } }));
    setSending(false);
    if (result.kind === 'failed') return say('failed', whyOf(result, t.resendFailed));
    onResent();
    say('done', isFailing ? t.failing : t.resent);
  };
  return (
    <>
      <div class="cluster">
        {may('resend') && !delivery.endedBy && (
          <button
            type="button"
            // Nobody has to send again what has arrived.
            class={hasArrived ? 'button' : 'button primary'}
            disabled={isSending || isAwaited}
            onClick={hasArrived ? () => ask('resend') : resend}
          >
            <Icon name="resend" size={14} />
            {isSending || isAwaited ? t.resending : t.resend}
          </button>
        )}
        {may('resend') && (delivery.outcome === 'retrying' || delivery.sentAgain) && (
          <button type="button" class="button" onClick={() => ask('cancel')}>
            <Icon name="cancelled" size={14} />
            {t.cancel}
          </button>
        )}
        {webhook && delivery.payload !== null && (
          <CopyButton isNamed what={t.curl} value={() => curlOf(delivery, webhook.url)} />
        )}
        <CopyButton isNamed what={t.link} value={() => location.origin + location.pathname} />
      </div>
      {!may('resend') && <MissingRight right="resend" />}
      {asked === 'cancel' && <CancelDelivery delivery={delivery} onClose={close} onDone={onChanged} />}
      {asked === 'resend' && <ResendDelivered onResend={resend} onClose={close} />}
    </>
  );
}
