/**
 * Opens the secrets and headers of an attempt, and sends. Each attempt looks them up again, so a change applies from the
 * next attempt on.
 */
import { LRUCache } from 'lru-cache';
import type { Accounts } from '../../read-model/accounts.js';
import { signingAt } from '../../read-model/sealed-values.js';
import { headerPlace, type Sealing, signingSecretPlace } from '../../secrets/sealing.js';
import type { SealedSecret, Webhook } from '../../webhooks/state.js';
import type { Attempt, AttemptRequest, AttemptResult } from './attempt.js';
import { parseSigningSecret } from './signature.js';

const CACHED_SECRETS = 10_000;

type DeliverySecrets = ReturnType<typeof createDeliverySecrets>;

/** @param remembers secrets that stay open */
export function createDeliverySecrets(
  accounts: Pick<Accounts, 'signingSecrets'>,
  sealing: Pick<Sealing, 'open'>,
  now: () => number,
  remembers = CACHED_SECRETS,
) {
  const openedHeaders = new WeakMap<Webhook['headers'], AttemptRequest['headers']>();
  const openedSecrets = new LRUCache<string, Buffer>({ maxSize: remembers, sizeCalculation: () => 1 });

  const openSecret = (accountId: number, sealed: string): Buffer => {
    const known = openedSecrets.get(sealed);
    const secret = known ?? parseSigningSecret(sealing.open(sealed, signingSecretPlace(accountId)));
    if (!known) openedSecrets.set(sealed, secret);
    return secret;
  };

  const opened = (accountId: number, all: readonly SealedSecret[]): readonly Buffer[] => {
    const signing = all.length > 1 ? signingAt(now(), all) : all;
    // Nothing goes out unsigned: the read model may be halfway through the account's registration.
    if (signing.length === 0) throw new Error(`no signing secret of account ${accountId} is known yet`);
    return signing.map(({ sealed }) => openSecret(accountId, sealed)).reverse();
  };

  return {
    /** @throws CannotOpen */
    headers(accountId: number, { headers }: Pick<Webhook, 'headers'>): AttemptRequest['headers'] {
      const known = openedHeaders.get(headers);
      if (known) return known;
      const open = (key: string, sealed: string) => sealing.open(sealed, headerPlace(accountId, key));
      const opened = headers.map(({ key, sealed }) => ({ key, value: open(key, sealed) }));
      openedHeaders.set(headers, opened);
      return opened;
    },
    /** The secrets that sign now, newest first. @throws CannotOpen, StoreUnavailable, Error if there is none */
    secrets(accountId: number): readonly Buffer[] | Promise<readonly Buffer[]> {
      const known = accounts.signingSecrets(accountId);
      return known instanceof Promise ? known.then((all) => opened(accountId, all)) : opened(accountId, known);
    },
  };
}

export interface SendParts {
  readonly configuration: DeliverySecrets;
  readonly attempt: Attempt;
  /** Aborted when attempts in progress must end. */
  readonly interrupt: AbortSignal;
}

/** The one way to send: a delivery, a notice, a test event. @throws what `headers` and `secrets` throw, at once or later */
export function sendTo(
  { configuration, attempt, interrupt: signal }: SendParts,
  target: Pick<Webhook, 'endpoint' | 'headers'>,
  { accountId, id, body, content, keepsAnswer, hasWaited, trace = null }: Unsigned,
): Promise<AttemptResult> {
  const headers = configuration.headers(accountId, target);
  const known = configuration.secrets(accountId);
  const { endpoint: url } = target;
  const send = (secrets: readonly Buffer[]) =>
    attempt({ accountId, url, id, body, content, headers, secrets, signal, trace, keepsAnswer, hasWaited });
  return known instanceof Promise ? known.then(send) : send(known);
}

type Unsigned = Omit<AttemptRequest, 'url' | 'headers' | 'secrets' | 'signal'>;
