/** Account commands of the command line: directly on the event store, with or without a running service. */
import { type EventStore, NO_STREAM, WrongExpectedRevision } from '../ports/event-store.js';
import { signsUntil } from '../read-model/signing-secrets.js';
import { type Sealing, signingSecretPlace } from '../secrets/sealing.js';
import { type CommandContext, enveloped, type NewEventId } from '../webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../webhooks/events.js';
import { accountOf, newCredential, newSigningSecret, type RandomBytes } from './client-credentials.js';
import { EventSearch } from './event-search.js';

export interface RegistrationParts {
  readonly store: EventStore;
  readonly sealing: Sealing;
  readonly randomBytes: RandomBytes;
  readonly newEventId: NewEventId;
  readonly now: () => Date;
  /** How long to search for a credential before revoking it anyway; 500 if unset. */
  readonly lookMs?: number;
}

const LOOK_MS = 500;

export class RegistrationRefused extends Error {
  override readonly name = 'RegistrationRefused';
  constructor(
    readonly code: 'ALREADY_REGISTERED' | 'ACCOUNT_NOT_FOUND' | 'CREDENTIAL_NOT_FOUND',
    message: string,
  ) {
    super(message);
  }
}

export interface IssuedCredential {
  readonly accountId: number;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface Registration {
  /** The secrets are only in the result. @throws RegistrationRefused, StoreUnavailable (all of these) */
  register(accountId: number, context: CommandContext): Promise<IssuedCredential & { signingSecret: string }>;
  issueCredential(accountId: number, context: CommandContext): Promise<IssuedCredential>;
  /**
   * If the history is too long to find the credential soon, it is revoked first and searched for afterwards: if it was never
   * issued, the event revokes nothing, and the call is refused as usual.
   */
  revokeCredential(clientId: string, context: CommandContext): Promise<{ accountId: number; clientId: string }>;
  rotateSecret(accountId: number, context: CommandContext): Promise<RotatedSecret>;
}

interface RotatedSecret {
  readonly accountId: number;
  readonly signingSecret: string;
  /** ISO 8601, UTC, ms: until then the previous secret also signs. */
  readonly previousEndsAt: string;
}

export function createRegistration(parts: RegistrationParts): Registration {
  const { store, randomBytes } = parts;
  return {
    async register(accountId, context) {
      const registered: AccountEvent = { type: 'AccountRegistered', data: { accountId, registeredAt: at(parts) } };
      const credential = newCredential(accountId, randomBytes);
      const secret = newSigningSecret(randomBytes);
      const events = [registered, credentialIssued(parts, credential), secretIssued(parts, accountId, secret)];
      await append(accountId, { events, context, revision: NO_STREAM }).catch((error: unknown) => {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        throw new RegistrationRefused('ALREADY_REGISTERED', `account ${accountId} is already registered`);
      });
      return { ...issued(accountId, credential), signingSecret: secret };
    },

    async issueCredential(accountId, context) {
      const credential = newCredential(accountId, randomBytes);
      await mustKnow(accountId);
      await appendToKnown(accountId, context, credentialIssued(parts, credential));
      return issued(accountId, credential);
    },

    async revokeCredential(clientId, context) {
      const accountId = accountOf(clientId);
      if (accountId === null) throw noCredential(clientId);
      const isIssued = (event: AccountEvent) => event.type === 'CredentialIssued' && event.data.clientId === clientId;
      const search = new EventSearch(store, accountId, isIssued);
      try {
        const found = await search.within(parts.lookMs ?? LOOK_MS);
        if (found === 'empty') throw noAccount(accountId);
        if (found === 'not-found') throw noCredential(clientId);
        await appendToKnown(accountId, context, {
          type: 'CredentialRevoked',
          data: { clientId, revokedAt: at(parts) },
        });
        if (found === 'not-yet' && (await search.within()) !== 'found') throw noCredential(clientId);
        return { accountId, clientId };
      } finally {
        await search.close();
      }
    },

    async rotateSecret(accountId, context) {
      const signingSecret = newSigningSecret(randomBytes);
      const issuedAt = at(parts);
      await mustKnow(accountId);
      await appendToKnown(accountId, context, secretIssued(parts, accountId, signingSecret, issuedAt));
      const previousEndsAt = new Date(signsUntil(Date.parse(issuedAt))).toISOString();
      return { accountId, signingSecret, previousEndsAt };
    },
  };

  /** Every account's first event is its registration. */
  async function mustKnow(accountId: number): Promise<void> {
    const search = new EventSearch(store, accountId, ({ type }) => type === 'AccountRegistered');
    const found = await search.within().finally(() => search.close());
    if (found !== 'found') throw noAccount(accountId);
  }

  /**
   * These events depend on no state: on a conflict the same events are appended again, after any others. So a busy account
   * blocks none of them.
   */
  async function appendToKnown(accountId: number, context: CommandContext, event: AccountEvent): Promise<void> {
    const events = enveloped([event], context, parts.newEventId);
    for (let revision = 0; ; ) {
      try {
        return void (await store.append(accountStream(accountId), events, revision));
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        revision = error.actual;
      }
    }
  }

  async function append(
    accountId: number,
    what: { events: AccountEvent[]; context: CommandContext; revision: number },
  ): Promise<void> {
    const events = enveloped(what.events, what.context, parts.newEventId);
    await store.append(accountStream(accountId), events, what.revision);
  }
}

function at(parts: RegistrationParts): string {
  return parts.now().toISOString();
}

function credentialIssued(
  parts: RegistrationParts,
  credential: { clientId: string; secretHash: string },
): AccountEvent {
  const { clientId, secretHash } = credential;
  return { type: 'CredentialIssued', data: { clientId, secretHash, issuedAt: at(parts) } };
}

function secretIssued(parts: RegistrationParts, accountId: number, secret: string, issuedAt = at(parts)): AccountEvent {
  const sealed = parts.sealing.seal(secret, signingSecretPlace(accountId));
  return { type: 'SigningSecretIssued', data: { sealed, issuedAt } };
}

function issued(accountId: number, credential: { clientId: string; clientSecret: string }): IssuedCredential {
  return { accountId, clientId: credential.clientId, clientSecret: credential.clientSecret };
}

function noAccount(accountId: number): RegistrationRefused {
  return new RegistrationRefused('ACCOUNT_NOT_FOUND', `account ${accountId} is not registered`);
}

function noCredential(clientId: string): RegistrationRefused {
  return new RegistrationRefused('CREDENTIAL_NOT_FOUND', `no credential has the client id ${clientId}`);
}
