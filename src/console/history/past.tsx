import { useLocation } from 'preact-iso/router';
import type { Webhook } from '../api/shapes.js';
import { full } from '../format/times.js';
import { LinkButton } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { TimeInput } from '../parts/inputs.js';
import { Notice } from '../parts/notice.js';
import { type Column, DataTable } from '../parts/table.js';
import { EventName, Untrusted, UrlText } from '../parts/text.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';

/** The id of the panel that shows the list as it stood. */
export const PAST = 'past';

interface PastParts {
  /** ISO time; null: now. */
  readonly at: string | null;
  readonly addressAt: (at: string | undefined) => string;
}

/** The list of webhooks as it stood at a time, once one is chosen. */
export function Past({ at, addressAt }: PastParts) {
  const { route } = useLocation();
  const t = texts.value.history;
  const go = (chosen: string) => route(addressAt(chosen && Date.parse(chosen) < Date.now() ? chosen : undefined));
  return (
    <section id={PAST} class="stack" tabIndex={-1} aria-labelledby="past-title">
      <header class="split">
        <h2 id="past-title">{t.past}</h2>
        <div class="cluster">
          <TimeInput label={t.when} at={at ?? ''} onChoose={go} />
          {at && <LinkButton href={addressAt(undefined)}>{t.backToNow}</LinkButton>}
        </div>
      </header>
      {at && <ListAt at={at} />}
    </section>
  );
}

function ListAt({ at }: { at: string }) {
  const t = texts.value.history;
  const then = useWebhooks(at);
  const list = then.isLast ? undefined : then.data?.webhooks;
  return (
    <>
      {list && (
        <div class="split">
          <b role="status">{full(new Date(at))}</b>
          <CopyButton isNamed what={t.copy} value={() => copied(then.data?.accountId ?? null, at, list)} />
        </div>
      )}
      <DataTable
        of={then}
        rows={list}
        columns={columns()}
        keyOf={({ id }) => String(id)}
        empty={<Notice icon="history" title={t.nothingThen} />}
      />
    </>
  );
}

function columns(): readonly Column<Webhook>[] {
  const { payments, history: t, webhooks } = texts.value;
  return [
    { name: payments.type, place: 'lead', cell: ({ type }) => <EventName type={type} /> },
    { name: 'URL', cell: ({ url }) => <UrlText url={url} /> },
    { name: webhooks.detail.headers, cell: ({ headers }) => <Untrusted text={Object.keys(headers).join(', ')} /> },
    { name: webhooks.detail.state, cell: ({ isActive }) => (isActive ? t.isOn : t.wasOff) },
  ];
}

/** Without header values: they are secrets. */
function copied(accountId: number | null, at: string, webhooks: readonly Webhook[]): string {
  const shown = webhooks.map(({ headers, ...webhook }) => ({ ...webhook, headers: Object.keys(headers) }));
  return JSON.stringify({ accountId, at, webhooks: shown }, null, 2);
}
