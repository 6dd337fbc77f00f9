import type { Change, Webhook } from '../api/shapes.js';
import { type Column, DataTable, type Table } from '../parts/table.js';
import { EventName, Untrusted, UrlText } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { addressOf } from '../state/addresses.js';
import { detailOf, titleOf, whoOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { PAST } from './past.js';
import { headersChanged, subjectOf } from './subjects.js';

/** What the page knows that tells more about a change. */
interface Known {
  readonly changes: readonly Change[];
  readonly webhooks: readonly Webhook[];
}

interface TableParts extends Pick<Table<Change>, 'of' | 'empty' | 'children'> {
  readonly changes: readonly Change[] | undefined;
  readonly known: Known;
  /** The time that is shown above. */
  readonly at: string;
  /** Of the list that a change leads back to. */
  readonly filters: Readonly<Record<string, string>>;
}

/** Each row leads to the list as it stood right after its change. */
export function ChangeTable({ changes, known, at, filters, ...parts }: TableParts) {
  return (
    <DataTable
      {...parts}
      rows={changes?.map((change, index) => ({ ...change, key: `${change.at} ${index}` }))}
      columns={columns(known, filters)}
      keyOf={({ key }) => key}
      isMarked={(change) => change.at === at}
    />
  );
}

function columns(known: Known, filters: Readonly<Record<string, string>>): readonly Column<Change & { key: string }>[] {
  const t = texts.value.history;
  return [
    {
      name: t.what,
      place: 'lead',
      cell: (change) => (
        <>
          {change.at ? (
            <a class="row-link" href={addressOf('/history', { ...filters, at: change.at })} onClick={showPast}>
              {titleOf(change)}
            </a>
          ) : (
            titleOf(change)
          )}
          {change.webhookId !== null && <Subject webhookId={change.webhookId} known={known} />}
          <small>
            <Untrusted text={detailWith(change)} />
          </small>
        </>
      ),
    },
    { name: t.who, cell: ({ actor }) => actor && <Who actor={actor} /> },
    { name: t.when, cell: ({ at }) => at && <TimeText at={at} /> },
  ];
}

/** Of which webhook it is, by event type and URL. */
function Subject({ webhookId, known }: { webhookId: number; known: Known }) {
  const { problems, eventTypes } = texts.value;
  const subject = subjectOf(webhookId, known.webhooks, known.changes);
  if (!subject) return <span class="cluster">{problems.webhook(webhookId)}</span>;
  const { type, url } = subject;
  return (
    <span class="cluster">
      {Object.hasOwn(eventTypes, type) ? <EventName type={type as keyof typeof eventTypes} /> : type}
      <UrlText url={url} />
    </span>
  );
}

/** May be empty. */
function detailWith(change: Change): string {
  const { changes: t, history } = texts.value;
  const headers = headersChanged(change);
  if (headers) {
    const { added, removed } = headers;
    const said = [
      added.length > 0 && t.details.headersAdded(added.join(', ')),
      removed.length > 0 && t.details.headersRemoved(removed.join(', ')),
    ];
    return said.filter(Boolean).join(' · ') || history.headerValues;
  }
  return detailOf(change);
}

function Who({ actor }: { actor: string }) {
  const { name, client } = whoOf(actor);
  return (
    <>
      <Untrusted text={name} />
      {client && (
        <small>
          <Untrusted text={client} />
        </small>
      )}
    </>
  );
}

/** It is above the rows, out of view. */
function showPast(): void {
  const panel = document.getElementById(PAST);
  panel?.focus({ preventScroll: true });
  panel?.scrollIntoView();
}
