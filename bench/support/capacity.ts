import { Feed } from './feed.js';
import type { Scene } from './scene.js';
import { deliveryTurn } from './turn.js';

/** Events a second that a service does for a while, each to so many URLs. The first turn runs it warm. */
export async function capacity({ service, ...scene }: Scene, urls: number): Promise<number> {
  const feed = new Feed(scene, urls);
  const sending = { pid: service.pid, begin: () => feed.start(), end: () => feed.stop() };
  await deliveryTurn(scene.receivers, sending);
  return (await deliveryTurn(scene.receivers, sending)).perSecond / urls;
}
