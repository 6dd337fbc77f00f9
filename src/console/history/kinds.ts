/** Kinds of changes, for the filter of History. Pure. */
import type { Change } from '../api/shapes.js';
import type { Texts } from '../texts/en.js';

export type Kind = keyof Texts['history']['kinds'];

const BEGINNINGS: Readonly<Record<Kind, readonly string[]>> = {
  webhooks: ['Webhook', 'IdempotencyKey'],
  urls: ['Endpoint', 'Deactivation'],
  recoveries: ['Recovery'],
  secrets: ['SigningSecret', 'Credential'],
  notices: ['Notices'],
  sessions: ['PortalSession'],
};

export const KINDS = Object.keys(BEGINNINGS) as Kind[];

const isOfKind = ({ type }: Change, kind: Kind) => BEGINNINGS[kind].some((beginning) => type.startsWith(beginning));

/**
 * Sessions are opened all the time: they are among the changes where they are asked for.
 *
 * @param wanted as in the address: a kind that is empty or unknown is all but sessions, nobody is everybody
 */
export function isWanted(change: Change, { kind, who }: { kind: string; who: string }): boolean {
  if (who && change.actor !== who) return false;
  const chosen = KINDS.find((one) => one === kind);
  return chosen ? isOfKind(change, chosen) : !isOfKind(change, 'sessions');
}
