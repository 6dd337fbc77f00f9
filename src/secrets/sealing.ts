/**
 * Sealing: header values, signing secrets and what receivers answered leave the process only as `v1.<key id>.<base64url of
 * nonce, ciphertext, tag>`, AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce. A sealed value is bound to its account
 * and field: at another place it can't be opened.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MasterKey } from './master-keys.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of accounts and days, for each master key. To derive a key takes three times as long as to seal an answer with it. */
const CACHED_KEYS = 10_000;

/** The place of a sealed value, for example { accountId: 42, field: 'header:x-api-key' }. */
export interface SealedPlace {
  readonly accountId: number;
  readonly field: string;
  /** Like 2026-11-21: the key is of this account and day. A key with random nonces is good for 2^32 values. */
  readonly day?: string;
}

export interface Sealing {
  seal(value: string, place: SealedPlace): string;
  /** @throws CannotOpen if it was sealed with another key, for another place, or was changed. */
  open(sealed: string, place: SealedPlace): string;
  /** Whether it was sealed with the current key, and opens to this value. */
  holds(sealed: string, value: string, place: SealedPlace): boolean;
  /** False if the key it was sealed with is missing. True for a text that is no sealed value: no key opens that. */
  hasKeyOf(sealed: string): boolean;
}

export class CannotOpen extends Error {
  override readonly name = 'CannotOpen';
  readonly code = 'CANNOT_OPEN';
}

export const headerPlace = (accountId: number, name: string): SealedPlace => ({
  accountId,
  field: `header:${name.toLowerCase()}`,
});

/** @param at the start of the attempt, ISO 8601 */
export const responsePlace = (accountId: number, deliveryId: string, at: string): SealedPlace => ({
  accountId,
  field: `response:${deliveryId}:${at}`,
  day: at.slice(0, 10),
});

export const signingSecretPlace = (accountId: number): SealedPlace => ({ accountId, field: 'signing-secret' });

/** Seals with the first key; opens with any of them. */
export function createSealing(
  keys: readonly [MasterKey, ...MasterKey[]],
  randomBytes: (size: number) => Buffer,
): Sealing {
  const opening = new Map(keys.map((key) => [key.id, createKeyOf(key)]));
  const sealingKeyOf = createKeyOf(keys[0]);
  const sealing: Sealing = {
    seal(value, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealingKeyOf(place), nonce).setAAD(boundTo(place));
      const sealed = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${keys[0].id}.${sealed.toString('base64url')}`;
    },
    open(sealed, place) {
      const [version, keyId = '', payload = ''] = sealed.split('.');
      const keyOf = opening.get(keyId);
      if (!sealing.hasKeyOf(sealed)) {
        throw new CannotOpen(`${place.field} is sealed with another MASTER_KEY: set that one as MASTER_KEY_PREVIOUS`);
      }
      if (version !== 'v1' || !keyOf) throw new CannotOpen(`${place.field} is not a sealed value`);
      try {
        return opened(keyOf(place), Buffer.from(payload, 'base64url'), place);
      } catch (cause) {
        throw new CannotOpen(`a value of ${place.field} was not sealed for account ${place.accountId}`, { cause });
      }
    },
    holds(sealed, value, place) {
      if (!sealed.startsWith(`v1.${keys[0].id}.`)) return false;
      try {
        return sealing.open(sealed, place) === value;
      } catch {
        return false;
      }
    },
    hasKeyOf(sealed) {
      const keyId = /^v1\.([^.]+)\./.exec(sealed)?.[1];
      return keyId === undefined || opening.has(keyId);
    },
  };
  return sealing;
}

function createKeyOf({ derive }: MasterKey): (place: SealedPlace) => KeyObject {
  const common = createSecretKey(derive('sealing'));
  const byDay = new LRUCache<string, KeyObject>({ max: CACHED_KEYS });
  return ({ accountId, day }) => {
    if (day === undefined) return common;
    const scope = `account-${accountId}/${day}`;
    const known = byDay.get(scope);
    const key = known ?? createSecretKey(derive('sealing', scope));
    if (!known) byDay.set(scope, key);
    return key;
  };
}

function opened(key: KeyObject, bytes: Buffer, place: SealedPlace): string {
  const end = bytes.length - TAG_BYTES;
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), options)
    .setAAD(boundTo(place))
    .setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]).toString('utf8');
}

function boundTo(place: SealedPlace): Buffer {
  return Buffer.from(`account-${place.accountId}/${place.field}`);
}
