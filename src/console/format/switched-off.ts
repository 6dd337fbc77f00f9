import type { Texts } from '../texts/en.js';

/** Why a webhook was switched off. */
export function switchedOff(reason: string, { changes }: Texts, time: (iso: string) => string): string {
  if (reason === 'deactivated by the account') return changes.details.byAccount;
  if (reason === 'the endpoint answered 410 Gone') return changes.details.gone;
  const since = /^nothing was delivered since (\S+)$/.exec(reason)?.[1];
  return since ? changes.details.nothingSince(time(since)) : reason;
}
