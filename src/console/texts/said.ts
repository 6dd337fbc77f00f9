/** What the API says, in the language of the page as far as the page knows its words. */
import type { Failure, Problem } from '../api/client.js';
import type { Change, DetailedAttempt } from '../api/shapes.js';
import { changeDetail } from '../format/change-detail.js';
import { day, minute } from '../format/times.js';
import { isolated } from '../parts/text.js';
import { texts } from './texts.js';

/** The API's own words for a code that the page does not know: in English, for each. */
function inOwnWords({ code, params = {}, message }: Problem): string {
  const { refusals } = texts.value;
  const known = Object.hasOwn(refusals, code) ? refusals[code] : undefined;
  return known?.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name])) ?? message;
}

/** @param otherwise where the service said nothing, as where it did not answer */
export function whyOf({ problem, errors }: Failure, otherwise: string): string {
  if (!problem) return otherwise;
  return (errors.length > 0 ? errors : [problem]).map(inOwnWords).join(' ');
}

/** By the names of fields in the API. */
export const messagesOf = ({ errors }: Failure): Readonly<Record<string, string>> =>
  Object.fromEntries(errors.map((error) => [error.field, inOwnWords(error)]));

interface FailedAttempt {
  readonly status: number | null;
  readonly error: string | null;
  readonly reason?: DetailedAttempt['reason'];
  readonly expiredCertificate?: DetailedAttempt['expiredCertificate'];
}

type Cause = readonly [sentence: string, remedy: string];

/** Why an attempt failed, and the remedy: as exactly as is known. A code of a later release says no more than that it failed. */
export function causeOf({ status, error, reason, expiredCertificate }: FailedAttempt): Cause {
  const { statuses, errors, reasons } = texts.value.causes;
  if (status !== null) return statuses[kindOf(status)];
  const known: Readonly<Record<string, readonly [string, string]>> = { ...errors, ...reasons };
  const [sentence, remedy] = [reason, error].map((code) => known[code ?? '']).find(Boolean) ?? statuses.unknown;
  return [expiredCertificate ? `${sentence} ${nameExpired(expiredCertificate)}` : sentence, remedy];
}

/** The name is the receiver's: of an unknown language and direction. */
function nameExpired({ name, expiredAt }: NonNullable<FailedAttempt['expiredCertificate']>): string {
  return texts.value.expiredCertificate(name && isolated(name), expiredAt && day(new Date(expiredAt)));
}

function kindOf(status: number): keyof typeof texts.value.causes.statuses {
  if (status < 400) return 'redirect';
  if (status >= 500) return 'broken';
  if (status === 401 || status === 403) return 'auth';
  if (status === 404) return 'missing';
  if (status === 410) return 'gone';
  return status === 429 ? 'busy' : 'refused';
}

/** Why no answer came. An error of a later release is shown as it is. */
export function errorName(error: string): string {
  const names: Readonly<Record<string, string>> = texts.value.errors;
  return Object.hasOwn(names, error) ? (names[error] ?? error) : error;
}

/** What a change is. The type of an event of a later release is shown as it is. */
export function titleOf({ type }: Change): string {
  const { types } = texts.value.changes;
  return Object.hasOwn(types, type) ? types[type as keyof typeof types] : type;
}

/** Of what its type does not say already; may be empty. */
export const detailOf = (change: Change) => changeDetail(change, texts.value, (iso) => minute(new Date(iso)));

/** Parts of the service, which act by themselves. */
const PARTS = ['dispatcher', 'recovery'] as const;
const OPERATOR = 'cli:';

/** Who caused a change: a user, or the client itself. */
export function whoOf(actor: string): string {
  const t = texts.value.changes;
  const part = PARTS.find((one) => one === actor);
  if (part) return t[part];
  if (actor.startsWith(OPERATOR)) return t.operator(actor.slice(OPERATOR.length));
  const [client = '', ...user] = actor.split('/');
  return user.join('/') || client;
}

/** In a sentence. */
export const nameOf = (actor: string) => isolated(whoOf(actor));
