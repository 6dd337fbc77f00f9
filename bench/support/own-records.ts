/** Counts the records that the service has written: those of its own topics, not the payments. */
import { openBackbone } from '../../src/composition/backbone.js';
import { createLogger } from '../../src/observability/logger.js';
import { readConfig } from '../../src/settings/read-config.js';
import type { Settings } from '../../test/support/clients/service.js';

const PREFIX = 'webhooks.';

export async function countRecords(settings: Settings): Promise<number> {
  const { broker, close } = await openBackbone(readConfig(settings), createLogger('warn'));
  try {
    const topics = (await broker.listTopics()).filter((topic) => topic.startsWith(PREFIX));
    const extents = await Promise.all(topics.map((topic) => broker.extent(topic)));
    return extents.flatMap((extent) => [...extent.values()]).reduce((sum, { next }) => sum + next, 0);
  } finally {
    await close();
  }
}
