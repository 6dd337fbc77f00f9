/** Where the page and its service are: behind a proxy under a path of its own. The script is at <page>/assets/. */

/** The service's root, without a trailing slash. */
export const SERVICE = new URL('../..', import.meta.url).href.replace(/\/$/, '');

/** The path of the Overview. */
export const CONSOLE = new URL('..', import.meta.url).pathname.replace(/\/$/, '');

export type Query = Readonly<Record<string, string | null | undefined>>;

/** @param path of a screen, with a leading slash, or '' for the Overview */
export function addressOf(path: string, query: Query = {}): string {
  const set = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const search = new URLSearchParams(set).toString();
  return `${CONSOLE}${path}${search && `?${search}`}`;
}

export const webhookAddress = (id: number) => addressOf(`/webhooks/${id}`);
export const deliveryAddress = (id: string) => addressOf(`/deliveries/${encodeURIComponent(id)}`);
/** @param list the filters of the list that it leads back to */
export const paymentAddress = (eventId: string, list: Query = {}) =>
  addressOf(`/payments/${encodeURIComponent(eventId)}`, list);
