import { post } from '../api/client.js';
import type { DetailedDelivery } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import { useAction } from '../parts/action.js';
import { CopyButton } from '../parts/copy-button.js';
import { MissingRight } from '../parts/notice.js';
import { may } from '../state/session.js';
import type { Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { curlOf } from './curl.js';
import type { Phase } from './phase.js';

interface ActionParts {
  readonly delivery: DetailedDelivery;
  readonly webhook: Webhook | null;
  readonly phase: Phase;
  /** Its URL. */
  readonly isFailing: boolean;
  readonly onResent: () => void;
  readonly onChanged: () => void;
}

export function DeliveryActions({ delivery, webhook, phase, isFailing, onResent, onChanged }: ActionParts) {
  const t = texts.value;
  const { id, sentAgain } = delivery;
  const params = { path: { id } };
  const hasArrived = delivery.outcome === 'delivered';
  const resend = useAction({
    call: () => post('/api/deliveries/{id}/resend', { params }),
    // What has arrived is booked: its receiver has to recognize the second one.
    question: hasArrived
      ? {
          title: t.dialogs.resendingDelivered.title,
          yes: t.delivery.resend,
          text: <p>{t.dialogs.resendingDelivered.explained}</p>,
        }
      : undefined,
    done: isFailing ? t.delivery.failing : t.delivery.resent,
    failed: t.delivery.resendFailed,
    onDone: onResent,
  });
  const c = t.dialogs.cancelling;
  const cancel = useAction({
    call: () => post('/api/deliveries/{id}/cancel', { params }),
    question: {
      title: sentAgain ? c.titleAgain : c.title,
      yes: sentAgain ? c.cancelAgain : c.cancel,
      no: c.keep,
      isDanger: true,
      text: <p>{sentAgain ? c.explainedAgain : c.explained}</p>,
    },
    done: sentAgain ? c.doneAgain : c.done,
    failed: c.failed,
    onDone: onChanged,
  });
  const isSending = resend.isBusy || phase.kind === 'sending';
  return (
    <>
      <div class="cluster">
        {may('resend') && !delivery.endedBy && (
          <button
            type="button"
            // Nobody has to send again what has arrived.
            class={hasArrived ? 'button' : 'button primary'}
            disabled={isSending}
            onClick={resend.start}
          >
            <Icon name="resend" size={14} />
            {isSending ? t.delivery.resending : t.delivery.resend}
          </button>
        )}
        {may('resend') && (delivery.outcome === 'retrying' || sentAgain) && (
          <button type="button" class="button" onClick={cancel.start}>
            <Icon name="cancelled" size={14} />
            {t.delivery.cancel}
          </button>
        )}
        {webhook && delivery.payload !== null && (
          <CopyButton isNamed what={t.delivery.curl} value={() => curlOf(delivery, webhook.url)} />
        )}
        <CopyButton isNamed what={t.delivery.link} value={() => location.origin + location.pathname} />
      </div>
      {!may('resend') && <MissingRight right="resend" />}
      {resend.dialog}
      {cancel.dialog}
    </>
  );
}
