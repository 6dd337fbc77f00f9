/** What the API says, in the language of the page as far as the page knows its codes. */
import { signal } from '@preact/signals';
import type { Failure, Problem } from '../api/client.js';
import { switchedOff } from '../format/switched-off.js';
import { minute } from '../format/times.js';
import { isolated } from '../format/untrusted.js';
import { texts } from './texts.js';

const loaded = signal<((problem: Problem) => string) | null>(null);
void import('./refusals.js').then(
  ({ inWordsOfThePage }) => {
    loaded.value = inWordsOfThePage;
  },
  () => undefined,
);

/** The API's own words until those of the page are loaded. */
export const inOwnWords = (problem: Problem) => loaded.value?.(problem) ?? problem.message;

/** @param otherwise where the service said nothing, as where it did not answer */
export function whyOf({ problem, errors }: Failure, otherwise: string): string {
  if (!problem) return otherwise;
  return (errors.length > 0 ? errors : [problem]).map(inOwnWords).join(' ');
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
export function nameOf(actor: string): string {
  const t = texts.value.changes;
  if (actor === SERVICE) return t.service;
  return actor.startsWith(OPERATOR) ? t.operator(isolated(actor.slice(OPERATOR.length))) : isolated(whoOf(actor).name);
}

/** Why a webhook was switched off. */
export const reasonOf = (reason: string) => switchedOff(reason, texts.value, (iso) => minute(new Date(iso)));
