import { useState } from 'preact/hooks';
import type { Webhook } from '../api/shapes.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { Button } from '../parts/button.js';
import { NoWebhooks } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { type Column, DataTable } from '../parts/table.js';
import { EventName, UrlText } from '../parts/text.js';
import { addressOf, webhookAddress } from '../state/addresses.js';
import { may } from '../state/session.js';
import { type UrlHealth, useUrls } from '../state/urls.js';
import { texts } from '../texts/texts.js';
import { Activate } from './changing.js';
import { EditWebhook } from './edit-webhook.js';
import { LastEvent, StateBadge } from './url-state.js';

export function WebhooksScreen() {
  const { of, urls, look } = useUrls();
  const [isAdding, add] = useState(false);
  const t = texts.value;
  const webhooks = urls?.flatMap((one) => one.webhooks) ?? [];
  return (
    <>
      <ScreenHead title={t.screens.webhooks} of={of}>
        {may('configure') && webhooks.length > 0 && (
          <Button kind="primary" icon="add" onClick={() => add(true)}>
            {t.webhooks.add}
          </Button>
        )}
      </ScreenHead>
      <DataTable
        of={of}
        rows={urls ?? undefined}
        columns={columns(webhooks, look)}
        keyOf={({ url }) => url}
        empty={
          <div class="stack">
            <NoWebhooks onAdd={() => add(true)} />
            <FindSecret />
          </div>
        }
      />
      {webhooks.length > 0 && <Unused webhooks={webhooks} />}
      {isAdding && <EditWebhook of={null} webhooks={webhooks} onClose={() => add(false)} onSaved={look} />}
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
          <small>
            {of.webhooks.map(({ id, type }) => (
              <span key={id} class="type">
                <EventName type={type} /> {t.active(activeOf(webhooks, type))}
              </span>
            ))}
          </small>
        </>
      ),
    },
    { name: t.detail.state, place: 'side', cell: (of) => <StateBadge of={of} /> },
    { name: texts.value.counts.retrying, place: 'end', cell: ({ waiting }) => count(waiting) },
    { name: texts.value.counts.held, place: 'end', cell: ({ held }) => count(held, 'warn') },
    ...(may('configure')
      ? ([
          { name: '', cell: (of) => isOff(of) && <Activate webhooks={of.webhooks} onDone={look} /> },
        ] satisfies Column<UrlHealth>[])
      : []),
  ];
}

const activeOf = (webhooks: readonly Webhook[], type: Webhook['type']) =>
  webhooks.filter((one) => one.type === type && one.isActive).length;

const isOff = ({ state }: UrlHealth) => state === 'off' || state === 'paused';

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

function Unused({ webhooks }: { webhooks: readonly Webhook[] }) {
  const { eventTypes: names, webhooks: t } = texts.value;
  const unused = (Object.keys(names) as Webhook['type'][]).filter((one) => !webhooks.some(({ type }) => type === one));
  if (unused.length === 0) return null;
  return (
    <p class="source muted note">
      {t.unused} {unused.map((type) => names[type]).join(', ')}
    </p>
  );
}
