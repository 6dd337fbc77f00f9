/** From the process's creation to 200 on /health/ready: on an empty store, and with a read model of 100,000 webhooks. */

import { newFolder } from '../support/folders.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { manyWebhooks } from '../support/many-webhooks.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS, WEBHOOKS } from '../support/sizes.js';
import { started } from '../support/started.js';

export const startEmpty: Row = {
  name: 'start-empty',
  title: 'Start to ready on an empty store',
  figure: { kind: 'below', value: 1, unit: 's' },
  run: (tell) => run(tell, async () => newFolder()),
};

export const startFull: Row = {
  name: 'start-full',
  title: `Start to ready with ${WEBHOOKS.toLocaleString('en-US')} webhooks in the read model`,
  figure: { kind: 'below', value: 3, unit: 's' },
  async run(tell) {
    const dataDir = await manyWebhooks(tell);
    await (await startService({ DATA_DIR: dataDir })).stop('SIGTERM');
    return run(tell, async () => dataDir);
  },
};

async function run(tell: Tell, dataDir: () => Promise<string>): Promise<Outcome> {
  const { settings, close } = await openInstallation();
  const seconds: number[] = [];
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { service, readyMs } = await started({ ...settings, DATA_DIR: await dataDir() });
      await service.stop('SIGTERM');
      seconds.push(readyMs / 1_000);
      tell(`round ${round}: ${amount(readyMs / 1_000, 's')}`);
    }
  } finally {
    await close();
  }
  return { kind: 'measured', values: seconds, sides: [], notes: [] };
}
