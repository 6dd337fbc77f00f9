import { Confirm } from '../parts/confirm.js';
import { dialogTexts } from '../texts/dialogs.js';
import { texts } from '../texts/texts.js';

/** What has arrived is booked: its receiver has to recognize the second one. */
export function ResendDelivered({ onResend, onClose }: { onResend: () => Promise<void>; onClose: () => void }) {
  const t = dialogTexts.value.resendingDelivered;
  const resend = async () => {
    await onResend();
    onClose();
  };
  return (
    <Confirm title={t.title} yes={texts.value.delivery.resend} onYes={resend} onClose={onClose}>
      <p>{t.explained}</p>
    </Confirm>
  );
}
