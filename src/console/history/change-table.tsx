import type { Change } from '../api/shapes.js';
import { type Column, DataTable, type Table } from '../parts/table.js';
import { EventName, Untrusted, UrlText } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { addressOf } from '../state/addresses.js';
import { useWebhooks } from '../state/webhooks.js';
import { detailOf, titleOf, whoOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { PAST } from './past.js';
import { subjectOf } from './subjects.js';

interface TableParts extends Pick<Table<Change>, 'of' | 'empty' | 'children'> {
  readonly changes: readonly Change[] | undefined;
  /** All that the page knows: they tell of which webhook others are. */
  readonly known: readonly Change[];
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

function columns(
  known: readonly Change[],
  filters: Readonly<Record<string, string>>,
): readonly Column<Change & { key: string }>[] {
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
            <Untrusted text={detailOf(change)} />
          </small>
        </>
      ),
    },
    { name: t.who, cell: ({ actor }) => actor && <Untrusted text={whoOf(actor)} /> },
    { name: t.when, cell: ({ at }) => at && <TimeText at={at} /> },
  ];
}

/** Of which webhook it is, by event type and URL. */
function Subject({ webhookId, known }: { webhookId: number; known: readonly Change[] }) {
  const { problems, eventTypes } = texts.value;
  const subject = subjectOf(webhookId, useWebhooks().data?.webhooks ?? [], known);
  if (!subject) return <span class="cluster">{problems.webhook(webhookId)}</span>;
  const { type, url } = subject;
  return (
    <span class="cluster">
      {Object.hasOwn(eventTypes, type) ? <EventName type={type as keyof typeof eventTypes} /> : type}
      <UrlText url={url} />
    </span>
  );
}

/** It is above the rows, out of view. */
function showPast(): void {
  const panel = document.getElementById(PAST);
  panel?.focus({ preventScroll: true });
  panel?.scrollIntoView();
}
