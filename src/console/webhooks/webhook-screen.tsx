import { useLocation, useRoute } from 'preact-iso/router';
import { all, get } from '../api/client.js';
import type { Webhook } from '../api/shapes.js';
import { Charts, spanOf } from '../overview/charts.js';
import { Problem } from '../overview/problems.js';
import { Button } from '../parts/button.js';
import { NotThere } from '../parts/notice.js';
import { Loaded, ScreenHead, Skeleton, staleness } from '../parts/screen-head.js';
import { type Column, DataTable } from '../parts/table.js';
import { EventName, Untrusted, UrlText } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { paymentsAddress } from '../payments/filters.js';
import { paymentColumns } from '../payments/payment-columns.js';
import { askRecovery, Recoveries } from '../recover/recovering.js';
import { addressOf } from '../state/addresses.js';
import { now } from '../state/now.js';
import { type Asking, useGot, usePolled } from '../state/polled.js';
import { may } from '../state/session.js';
import { isOff, isWrong, stateOf, type UrlHealth, useUrls } from '../state/urls.js';
import { activeOf, useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { Activate, Pause, Remove } from './changing.js';
import { EditWebhook } from './edit-webhook.js';
import { Test } from './test-result.js';
import { StateBadge } from './url-state.js';

const SHOWN = 10;

/** A URL with all its types: the address names one of its webhooks. */
export function WebhookScreen() {
  const id = useRoute().params.id ?? '';
  const { route, query } = useLocation();
  const { of: polled, urls, look } = useUrls();
  const edit = (isOpen: boolean) => route(addressOf(`/webhooks/${id}`, { edit: isOpen ? '1' : null }), true);
  const { screens } = texts.value;
  const of = urls?.find(({ webhooks }) => webhooks.some((webhook) => String(webhook.id) === id));
  return (
    <>
      <ScreenHead
        title={screens.webhooks}
        href={addressOf('/webhooks')}
        tab={of?.url ?? screens.webhooks}
        of={polled}
      />
      {of ? (
        <UrlView of={of} className={staleness(polled)} onEdit={() => edit(true)} onChanged={look} />
      ) : urls ? (
        <NotThere id={id} list={[addressOf('/webhooks'), screens.webhooks]} />
      ) : (
        <Skeleton of={polled} />
      )}
      {of && query.edit && may('configure') && (
        <EditWebhook
          of={of}
          webhooks={urls?.flatMap(({ webhooks }) => webhooks) ?? []}
          onClose={() => edit(false)}
          onSaved={look}
        />
      )}
    </>
  );
}

interface ViewParts {
  readonly of: UrlHealth;
  readonly className: string;
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}

function UrlView({ of, className, onEdit, onChanged }: ViewParts) {
  const { route } = useLocation();
  const t = texts.value;
  const { url, webhooks, state } = of;
  const [first] = webhooks;
  const leave = () => {
    onChanged();
    route(addressOf('/webhooks'));
  };
  return (
    <div class={`stack${className}`}>
      <header class="stack">
        <h1 class="cluster">
          <UrlText url={url} />
          <StateBadge state={of.state} />
        </h1>
        {may('configure') && first && (
          <div class="cluster">
            <Test of={first.id} />
            <Button onClick={onEdit}>{t.webhooks.edit}</Button>
            {!isWrong(of) && !isOff(of) && <Button onClick={() => askRecovery(of)}>{t.problems.recover}</Button>}
            {!isOff(of) && <Pause of={of} webhooks={webhooks} onDone={onChanged} />}
            {state === 'paused' && <Activate webhooks={webhooks} onDone={onChanged} />}
            <Remove of={of} webhooks={webhooks} onDone={leave} />
          </div>
        )}
      </header>
      <Recoveries urls={[of]} />
      {isWrong(of) && <Problem of={of} onChanged={onChanged} />}
      <Types of={of} onChanged={onChanged} />
      <LastDay webhookIds={webhooks.map(({ id }) => id)} />
      <LastPayments url={url} />
    </div>
  );
}

/** The values of headers are secrets: only the form that edits them has them. */
function Types({ of, onChanged }: { of: UrlHealth; onChanged: () => void }) {
  const { payments, webhooks } = texts.value;
  const t = webhooks.detail;
  const all = useWebhooks().data?.webhooks ?? [];
  const columns: Column<Webhook>[] = [
    {
      name: payments.type,
      place: 'lead',
      cell: ({ type }) => (
        <>
          <b>
            <EventName type={type} />
          </b>
          <code>{type}</code>
          <small>{webhooks.active(activeOf(type, all))}</small>
        </>
      ),
    },
    {
      name: t.state,
      cell: ({ id }) => {
        const health = of.healths.find(({ webhookId }) => webhookId === id);
        return health && <StateBadge state={stateOf(health)} />;
      },
    },
    { name: t.headers, cell: ({ headers }) => <Untrusted text={Object.keys(headers).join(', ') || '–'} /> },
    { name: t.created, cell: ({ createdAt }) => <TimeText at={createdAt} /> },
    {
      name: '',
      place: 'end',
      cell: (webhook) =>
        may('configure') && of.webhooks.length > 1 && <Remove of={of} webhooks={[webhook]} onDone={onChanged} />,
    },
  ];
  return <DataTable rows={of.webhooks} columns={columns} keyOf={({ id }) => String(id)} />;
}

function LastDay({ webhookIds }: { webhookIds: readonly number[] }) {
  const { times, ...span } = spanOf('24h', now.value);
  const ask = ({ signal }: Asking) =>
    all(
      webhookIds.map((webhookId) =>
        get('/api/stats', { params: { query: { ...span, step: '1h', webhookId } }, signal }),
      ),
    );
  const stats = usePolled(`day ${webhookIds} ${span.to}`, ask, { everyMs: 60_000, keepsLast: true });
  return (
    <section class="stack">
      <h2>{texts.value.payments.periods.day}</h2>
      <Loaded of={stats}>{(day) => <Charts stats={day} times={times} range="24h" />}</Loaded>
    </section>
  );
}

function LastPayments({ url }: { url: string }) {
  const page = useGot('/api/events', { query: { url, limit: SHOWN } }, { everyMs: 10_000 });
  const { screens, webhooks } = texts.value;
  return (
    <section class="stack">
      <header class="split">
        <h2>{webhooks.detail.payments}</h2>
        <a href={paymentsAddress({ url })}>{screens.payments}</a>
      </header>
      <DataTable
        of={page}
        rows={page.data?.events}
        columns={paymentColumns({ url })}
        keyOf={({ cursor }) => cursor}
        empty={<p class="muted">{webhooks.detail.noPayments}</p>}
      />
    </section>
  );
}
