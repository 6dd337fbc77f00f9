/** What a change in the history says, in the language of the page. */
import { changeDetail } from '../format/change-detail.js';
import { minute } from '../format/times.js';
import type { Change } from '../state/changes.js';
import { texts } from './texts.js';

/** The type of an event of a later release is shown as it is. */
export function titleOf({ type, details }: Change): string {
  const { types, paused } = texts.value.changes;
  if (details.reason === 'paused') return paused;
  return Object.hasOwn(types, type) ? types[type as keyof typeof types] : type;
}

/** Of what its type does not say already; may be empty. */
export const detailOf = (change: Change) => changeDetail(change, texts.value, (iso) => minute(new Date(iso)));
