import type { Recovery } from '../api/shapes.js';
import { whole } from '../format/numbers.js';
import { EventName } from '../parts/event-name.js';
import { Untrusted } from '../parts/untrusted.js';
import { UrlText } from '../parts/url-text.js';
import type { Change } from '../state/changes.js';
import type { Webhook } from '../state/webhooks.js';
import { detailOf } from '../texts/changes-said.js';
import { whoOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { headersChanged, subjectOf } from './subjects.js';

/** What the page knows that tells more about a change. */
export interface Known {
  readonly changes: readonly Change[];
  readonly webhooks: readonly Webhook[];
  readonly recoveries: readonly Recovery[];
}

/** Of which webhook it is, by event type and URL. */
export function Subject({ webhookId, known }: { webhookId: number; known: Known }) {
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
export function detailWith(change: Change, { changes, recoveries }: Pick<Known, 'changes' | 'recoveries'>): string {
  const { changes: t, history, recover } = texts.value;
  const headers = headersChanged(change, changes);
  if (headers) {
    const { added, removed } = headers;
    const said = [
      added.length > 0 && t.details.headersAdded(added.join(', ')),
      removed.length > 0 && t.details.headersRemoved(removed.join(', ')),
    ];
    return said.filter(Boolean).join(' · ') || history.headerValues;
  }
  const ended = recoveries.find(({ id }) => change.type === 'RecoveryEnded' && change.changes.includes(id));
  const result = ended && recover.result(whole(ended.sent), whole(ended.delivered), whole(ended.failed));
  return [detailOf(change), result].filter(Boolean).join(': ');
}

export function Who({ actor }: { actor: string }) {
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
