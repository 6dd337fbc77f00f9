/**
 * Stops the start if the master key was changed and the previous one is not set. Otherwise deliveries of accounts
 * registered before the change would wait forever to be signed, and GET would be a 500.
 */
import type { SealedValue } from '../read-model/sealed-values.js';
import type { Sealing } from '../secrets/sealing.js';
import { invalid } from '../settings/invalid-config.js';

/** @throws InvalidConfig */
export function checkKeys(values: Iterable<SealedValue>, sealing: Sealing): void {
  for (const { stream, sealed } of values) {
    if (sealing.hasKeyOf(sealed)) continue;
    const what = `is not the key that secrets of ${stream} are sealed with`;
    throw invalid('MASTER_KEY', `${what}: set that one, here or as MASTER_KEY_PREVIOUS`);
  }
}
