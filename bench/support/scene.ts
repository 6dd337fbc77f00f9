/** A running service with accounts whose events go to three URLs each, receivers, and a payment system. */
import type { Service } from '../../test/support/clients/service.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from './child.js';
import { type Installation, type InstallationOptions, openInstallation, startService } from './installation.js';
import { populate } from './population.js';
import type { Tell } from './row.js';

/** Several: Kafka's partitions have something to do each. */
export const ACCOUNTS = 4;

interface SceneOptions extends InstallationOptions {
  /** Of each account's webhooks, at most three: each at an origin of its own. */
  readonly paths?: readonly string[];
}

export interface Scene extends Installation {
  readonly service: Service;
  readonly publisher: Child<typeof publisherHandlers>;
}

const PATHS = ['/one', '/two', '/three'] as const;

export async function openScene({ paths = [...PATHS], ...options }: SceneOptions, tell: Tell): Promise<Scene> {
  const installation = await openInstallation(options);
  const { settings, origins } = installation;
  const urls = (accountId: number) => paths.map((path, index) => `${origins[index]}${path}/${accountId}`);
  await populate(settings, { accounts: ACCOUNTS, urls }, tell);
  const service = await startService(settings);
  const publisher: Scene['publisher'] = await Child.start('publisher');
  await publisher.ask('open', {
    settings,
    accounts: { first: 1, count: ACCOUNTS },
  });
  const close = async () => {
    await publisher.stop();
    await service.stop('SIGTERM');
    await installation.close();
  };
  return { ...installation, service, publisher, close };
}
