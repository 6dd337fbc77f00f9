import { CopyButton } from '../parts/copy-button.js';
import { TimeText } from '../parts/time-text.js';
import { Untrusted } from '../parts/untrusted.js';
import { type Change, historyAddress } from '../state/changes.js';
import { titleOf } from '../texts/changes-said.js';
import { texts } from '../texts/texts.js';
import { detailWith, type Known, Subject, Who } from './change-text.js';

/** The id of the panel that shows the list as it stood. */
export const PAST = 'past';

interface TableParts {
  readonly changes: readonly Change[];
  readonly at: string;
  /** Of the page that is shown. */
  readonly before?: string;
  /** Absent: all changes are of one webhook, which the page names. */
  readonly known?: Known;
}

/** Each row leads to the list as it stood right after its change. */
export function ChangeTable({ changes, at, before, known }: TableParts) {
  const t = texts.value;
  return (
    <table class="rows">
      <thead>
        <tr>
          <th>{t.history.what}</th>
          <th>{t.history.who}</th>
          <th>{t.history.when}</th>
          <th />
        </tr>
      </thead>
      <tbody>
        {changes.map((change, index) => (
          <tr key={`${change.at} ${index}`} class={change.at === at ? 'chosen' : undefined}>
            <td class="event">
              {change.at ? (
                <a class="row-link" href={historyAddress(change.at, before)} onClick={showPast}>
                  {titleOf(change)}
                </a>
              ) : (
                titleOf(change)
              )}
              {known && change.webhookId !== null && <Subject webhookId={change.webhookId} known={known} />}
              <small>
                <Untrusted text={detailWith(change, known ?? { changes, recoveries: [] })} />
              </small>
            </td>
            <td>{change.actor && <Who actor={change.actor} />}</td>
            <td>{change.at && <TimeText at={change.at} />}</td>
            <td class="end">
              <CopyButton what={t.history.change} value={() => textOf(change)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const textOf = ({ at, actor, type, webhookId, changes }: Change) =>
  [at, actor, type, webhookId, changes].map((value) => value ?? '-').join(' ');

/** It is above the rows, out of view. */
function showPast(): void {
  const panel = document.getElementById(PAST);
  panel?.focus({ preventScroll: true });
  panel?.scrollIntoView();
}
