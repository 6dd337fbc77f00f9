/** What the API says, in the language of the page as far as the page knows its sentences. */
import { signal } from '@preact/signals';
import type { Failure } from '../api/client.js';
import { changeDetail, switchedOff } from '../format/change-detail.js';
import { minute } from '../format/times.js';
import { isolated } from '../format/untrusted.js';
import type { Change } from '../state/changes.js';
import { texts } from './texts.js';

const loaded = signal<((sentence: string) => string) | null>(null);
void import('./refusals.js').then(
  ({ inWordsOfThePage }) => {
    loaded.value = inWordsOfThePage;
  },
  () => undefined,
);

/** The API's own words until those of the page are loaded. */
export const inOwnWords = (sentence: string) => loaded.value?.(sentence) ?? sentence;

/** @param otherwise where the service said nothing, as where it did not answer */
export function whyOf({ message, errors }: Failure, otherwise: string): string {
  const sentences = errors.length > 0 ? errors.map((error) => error.message) : [message ?? otherwise];
  return sentences.map(inOwnWords).join(' ');
}

/** The type of an event of a later release is shown as it is. */
export function titleOf({ type, changes }: Change): string {
  const { types, paused } = texts.value.changes;
  if (changes === 'deactivated: deactivated by the account') return paused;
  return Object.hasOwn(types, type) ? types[type as keyof typeof types] : type;
}

const SERVICE = 'dispatcher';
const OPERATOR = 'cli:';

/** Who caused a change. client: of whose token the session of a user was opened. */
export function whoOf(actor: string): { readonly name: string; readonly client: string | null } {
  const t = texts.value.changes;
  if (actor === SERVICE) return { name: t.service, client: null };
  if (actor.startsWith(OPERATOR)) return { name: t.operator(actor.slice(OPERATOR.length)), client: null };
  const [client = '', ...user] = actor.split('/');
  return user.length === 0 ? { name: client, client: null } : { name: user.join('/'), client };
}

/** In a sentence. */
export const nameOf = (actor: string) =>
  actor === SERVICE ? texts.value.changes.service : isolated(whoOf(actor).name);

const shownTime = (iso: string) => minute(new Date(iso));

/** Of what its type does not say already; may be empty. */
export const detailOf = (change: Change) => changeDetail(change, texts.value, shownTime);

/** Why a webhook was switched off. */
export const reasonOf = (reason: string) => switchedOff(reason, texts.value, shownTime);
