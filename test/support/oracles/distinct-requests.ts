import type { ReceivedRequest } from '../servers/receiver.js';

/** How many events arrived at how many paths: a delivery that is sent twice counts once. */
export function distinct(requests: readonly ReceivedRequest[]): number {
  return new Set(requests.map(({ path, body }) => `${path} ${body}`)).size;
}
