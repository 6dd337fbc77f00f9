import { post } from '../api/client.js';
import type { DetailedDelivery } from '../api/shapes.js';
import { ActionButton } from '../parts/action.js';
import { CopyButton } from '../parts/copy-button.js';
import { MissingRight } from '../parts/notice.js';
import { deliveryAddress } from '../state/addresses.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';

interface ActionParts {
  readonly delivery: DetailedDelivery;
  readonly isSending: boolean;
  readonly onResent: () => void;
  readonly onChanged: () => void;
}

export function DeliveryActions({ delivery, isSending, onResent, onChanged }: ActionParts) {
  const { delivery: t, dialogs } = texts.value;
  const { id, outcome, sentAgain } = delivery;
  const params = { path: { id } };
  const hasArrived = outcome === 'delivered';
  return (
    <>
      <div class="cluster">
        {may('resend') && !delivery.endedBy && (
          <ActionButton
            icon="resend"
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
            icon="cancelled"
            call={() => post('/api/deliveries/{id}/cancel', { params })}
            question={{ ...dialogs.cancelling, isDanger: true }}
            onDone={onChanged}
          >
            {t.cancel}
          </ActionButton>
        )}
        <CopyButton isNamed what={t.link} value={() => location.origin + deliveryAddress(id)} />
      </div>
      {!may('resend') && <MissingRight right="resend" />}
    </>
  );
}
