import { useLocation } from 'preact-iso/router';
import type { Webhook } from '../api/shapes.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { Button } from '../parts/button.js';
import { AddWebhook, NoWebhooks } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { type Column, DataTable } from '../parts/table.js';
import { TypeNames, UrlText } from '../parts/text.js';
import { askRecovery } from '../recover/recovering.js';
import { addressOf, webhookAddress } from '../state/addresses.js';
import { may } from '../state/session.js';
import { isOff, type UrlHealth, useUrls } from '../state/urls.js';
import { texts } from '../texts/texts.js';
import { Activate } from './changing.js';
import { EditWebhook } from './edit-webhook.js';
import { LastEvent, StateBadge } from './url-state.js';

export function WebhooksScreen() {
  const { of, urls, look } = useUrls();
  const { query, route } = useLocation();
  const t = texts.value;
  const webhooks = urls?.flatMap((one) => one.webhooks) ?? [];
  return (
    <>
      <ScreenHead title={t.screens.webhooks} of={of}>
        {may('configure') && webhooks.length > 0 && <AddWebhook />}
      </ScreenHead>
      <DataTable
        of={of}
        rows={urls ?? undefined}
        columns={columns(webhooks, look)}
        keyOf={({ url }) => url}
        empty={
          <div class="stack">
            <NoWebhooks />
            <FindSecret />
          </div>
        }
      />
      {query.add && urls && may('configure') && (
        <EditWebhook of={null} webhooks={webhooks} onClose={() => route(addressOf('/webhooks'), true)} onSaved={look} />
      )}
    </>
  );
}

function columns(webhooks: readonly Webhook[], look: () => void): readonly Column<UrlHealth>[] {
  const { webhooks: t } = texts.value;
  const count = (value: number, tone = '') => <b class={value > 0 ? tone : 'muted'}>{whole(value)}</b>;
  return [
    {
      name: 'URL',
      place: 'lead',
      cell: (of) => (
        <>
          <a class="row-link" href={webhookAddress(of.webhooks[0]?.id ?? 0)}>
            <UrlText url={of.url} />
          </a>
          <LastEvent of={of} />
          <TypeNames of={of.webhooks} among={webhooks} />
        </>
      ),
    },
    { name: t.detail.state, cell: (of) => <StateBadge state={of.state} /> },
    { name: texts.value.outcomes.retrying, place: 'end', cell: ({ waiting }) => count(waiting) },
    { name: texts.value.outcomes.held, place: 'end', cell: ({ held }) => count(held, 'warn') },
    {
      name: '',
      place: 'end',
      cell: (of) =>
        may('configure') &&
        (isOff(of) ? (
          <Activate webhooks={of.webhooks} onDone={look} />
        ) : (
          <Button onClick={() => askRecovery(of)}>{texts.value.problems.recover}</Button>
        )),
    },
  ];
}

/** Where what verifies a delivery comes from: shown once, so it may have to be issued anew. */
function FindSecret() {
  const { webhooks, screens } = texts.value;
  return (
    <p class="callout">
      <Icon name="lock" />
      <span>
        {webhooks.secret} <a href={addressOf('/security')}>{screens.security}</a>
      </span>
    </p>
  );
}
