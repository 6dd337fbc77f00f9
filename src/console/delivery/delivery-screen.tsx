import { useRoute } from 'preact-iso/router';
import { Notice } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { isolated } from '../parts/text.js';
import { addressOf } from '../state/addresses.js';
import { texts } from '../texts/texts.js';
import { DeliveryView } from './delivery-view.js';

/** What a receiver logged as webhook-id leads here. */
export function DeliveryScreen() {
  const id = useRoute().params.id ?? '';
  const { screens, delivery } = texts.value;
  return (
    <>
      <ScreenHead title={screens.payments} href={addressOf('/payments')} tab={`${delivery.tab} ${id}`} />
      <DeliveryView id={id} otherwise={({ status }) => status === 404 && <NotThere id={id} />} />
    </>
  );
}

function NotThere({ id }: { id: string }) {
  const { delivery: t, payments } = texts.value;
  return (
    <Notice icon="search" title={t.notThere.title}>
      <p>{t.notThere.text(isolated(id))}</p>
      <a class="button" href={addressOf('/payments')}>
        {payments.all}
      </a>
    </Notice>
  );
}
