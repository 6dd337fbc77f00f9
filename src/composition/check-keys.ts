/**
 * A master key that was changed without a word of the earlier one stops the start: else every delivery of an account
 * that was registered before would wait to be signed, for ever, and GET would be 500.
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
