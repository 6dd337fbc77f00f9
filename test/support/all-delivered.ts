import type { DeliveryView } from '../../src/delivery/log/delivery-log.js';
import { commandLine } from './in-process-cli.js';
import type { Settings } from './service.js';

/** An account's deliveries as the command shows them, once this many exist and are delivered; false until then. */
export async function allDelivered(
  settings: Settings,
  accountId: number,
  count: number,
): Promise<DeliveryView[] | false> {
  const { stdout } = await commandLine(settings, ['deliveries', 'list', '--account', String(accountId), '--json']);
  const lines = stdout.split('\n').filter((line) => line !== '');
  const deliveries = lines.map((line) => JSON.parse(line) as DeliveryView);
  return deliveries.filter(({ outcome }) => outcome === 'delivered').length === count && deliveries;
}
