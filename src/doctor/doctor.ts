/** Runs all checks of an installation with these settings. Safe beside a running service, and changes nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedFile, kafkaSettings, openEventStore } from '../composition/backbone.js';
import type { Logger } from '../observability/logger.js';
import { type Config, ignoredProxy } from '../settings/read-config.js';
import { brokerCheck, type Inspect } from './broker-checks.js';
import { type Check, type Result, runChecks, warn } from './check.js';
import { fileChecks } from './file-checks.js';
import { isServing, issuerChecks, portChecks } from './network-checks.js';
import { type OpenedStore, storeChecks } from './store-checks.js';

/** With the cleanup afterwards, the 15 s of a command. */
const CHECK_WITHIN_MS = 12_000;

/** Ends in time even if a check hangs; its connections may stay open until the process ends. @param withinMs of each */
export async function examine(config: Config, logger: Logger, withinMs = CHECK_WITHIN_MS): Promise<readonly Result[]> {
  const embedded = embeddedFile(config);
  const isThere = existsSync(join(config.DATA_DIR, 'store.sqlite'));
  let opening: Promise<OpenedStore | null> | null = null;
  const openStore = () => {
    const isNew = config.EVENT_STORE_URL === null && !isThere;
    opening ??= isNew ? Promise.resolve(null) : openEventStore(config, embedded);
    return opening;
  };
  const inspect: Inspect = async (of, brokers) => {
    const { inspectKafka } = await import('../adapters/kafka/inspection.js');
    return inspectKafka(kafkaSettings(config, brokers), logger, of);
  };
  const proxy = ignoredProxy(config);
  const serving = await isServing(config);
  const checks: readonly Check[] = [
    ...(proxy ? [{ name: 'forward proxy', run: () => [warn(proxy.says, proxy.todo)] }] : []),
    ...fileChecks(config, Date.now()),
    ...storeChecks(config, openStore, serving),
    brokerCheck(config, inspect, Date.now),
    ...issuerChecks(config),
    ...portChecks(config, serving),
  ];
  try {
    return await runChecks(checks, withinMs);
  } finally {
    await (opening as Promise<OpenedStore | null> | null)?.then((one) => one?.store.close()).catch(() => undefined);
    embedded.close();
  }
}
