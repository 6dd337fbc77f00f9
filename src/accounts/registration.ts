/** Registration of accounts and publishers: directly on the event store, with or without a running service. */
import { type EventStore, type NewEvent, NO_STREAM } from '../ports/event-store.js';
import { previousEndsAt } from '../read-model/sealed-values.js';
import { type Sealing, signingSecretPlace } from '../secrets/sealing.js';
import type { Conflict } from '../webhooks/command-deps.js';
import { type CommandContext, enveloped, type NewEventId } from '../webhooks/envelope.js';
import { type AccountEvent, type ClientOwner, ownerText, streamOf } from '../webhooks/events.js';
import { createAppend, runCommand, type Verdict } from '../webhooks/handle-command.js';
import type { NewCredential, RandomBytes } from './client-credentials.js';
import { newCredential, newSigningSecret, ownerOf } from './client-credentials.js';

export interface RegistrationParts {
  readonly store: EventStore;
  readonly sealing: Sealing;
  /**
   * Whether a read model has the credential, so that its owner's history need not be read; false if unknown. The history may
   * have tens of thousands of events before the credential.
   */
  readonly isKnownCredential?: (owner: ClientOwner, clientId: string) => Promise<boolean>;
  readonly randomBytes: RandomBytes;
  readonly newEventId: NewEventId;
  readonly now: () => Date;
}

export class RegistrationRefused extends Error {
  override readonly name = 'RegistrationRefused';
}

type Credential = Pick<NewCredential, 'clientId' | 'clientSecret'>;
type Named<O extends ClientOwner> = O extends number ? { readonly accountId: number } : { readonly name: string };
type Issued<O extends ClientOwner> = Named<O> & Credential;
export type IssuedCredential = Issued<number>;

export interface Registration {
  /** The secrets are only in the result. @throws RegistrationRefused, StoreUnavailable (all of these) */
  register(accountId: number, context: CommandContext): Promise<IssuedCredential & { signingSecret: string }>;
  /** @param name matches PUBLISHER_NAME */
  registerPublisher(name: string, context: CommandContext): Promise<Issued<string>>;
  issueCredential<O extends ClientOwner>(owner: O, context: CommandContext): Promise<Issued<O>>;
  revokeCredential(clientId: string, context: CommandContext): Promise<Named<ClientOwner> & { clientId: string }>;
  rotateSecret(accountId: number, context: CommandContext): Promise<RotatedSecret>;
}

interface RotatedSecret {
  readonly accountId: number;
  readonly signingSecret: string;
  /** ISO 8601, UTC, ms: until then the previous secret also signs. */
  readonly previousEndsAt: string;
}

export function createRegistration(parts: RegistrationParts): Registration {
  const { store, sealing, randomBytes } = parts;
  const append = createAppend({ store, tracing: null });
  const now = () => parts.now().toISOString();
  const credentialIssued = ({ clientId, secretHash }: NewCredential): AccountEvent => ({
    type: 'CredentialIssued',
    data: { clientId, secretHash, issuedAt: now() },
  });
  const secretIssued = (accountId: number, secret: string, issuedAt: string): AccountEvent => ({
    type: 'SigningSecretIssued',
    data: { sealed: sealing.seal(secret, signingSecretPlace(accountId)), issuedAt },
  });
  return {
    async register(accountId, context) {
      const registered: AccountEvent = { type: 'AccountRegistered', data: { accountId, registeredAt: now() } };
      const credential = newCredential(accountId, randomBytes);
      const secret = newSigningSecret(randomBytes);
      const events = [registered, credentialIssued(credential), secretIssued(accountId, secret, now())];
      await begin(accountId, events, context);
      return { ...issued(accountId, credential), signingSecret: secret };
    },

    async registerPublisher(name, context) {
      const registered: AccountEvent = { type: 'PublisherRegistered', data: { name, registeredAt: now() } };
      const credential = newCredential(name, randomBytes);
      await begin(name, [registered, credentialIssued(credential)], context);
      return issued(name, credential);
    },

    async issueCredential(owner, context) {
      const credential = newCredential(owner, randomBytes);
      await mustKnow(owner);
      await appendToKnown(owner, context, credentialIssued(credential));
      return issued(owner, credential);
    },

    async revokeCredential(clientId, context) {
      const owner = ownerOf(clientId);
      if (owner === null || !(await isIssued(owner, clientId)))
        throw new RegistrationRefused(`no credential has the client id ${clientId}`);
      await appendToKnown(owner, context, { type: 'CredentialRevoked', data: { clientId, revokedAt: now() } });
      return { ...named(owner), clientId };
    },

    async rotateSecret(accountId, context) {
      const signingSecret = newSigningSecret(randomBytes);
      const issuedAt = now();
      await mustKnow(accountId);
      await appendToKnown(accountId, context, secretIssued(accountId, signingSecret, issuedAt));
      return { accountId, signingSecret, previousEndsAt: previousEndsAt(issuedAt) };
    },
  };

  async function isIssued(owner: ClientOwner, clientId: string): Promise<boolean> {
    if (await parts.isKnownCredential?.(owner, clientId)) return true;
    for await (const { data } of store.read(streamOf(owner), 0, ['CredentialIssued'])) {
      if (data.clientId === clientId) return true;
    }
    return false;
  }

  async function isRegistered(owner: ClientOwner): Promise<boolean> {
    for await (const _ of store.read(streamOf(owner), 0, ['AccountRegistered', 'PublisherRegistered'])) return true;
    return false;
  }

  async function mustKnow(owner: ClientOwner): Promise<void> {
    if (!(await isRegistered(owner))) throw new RegistrationRefused(`${ownerText(owner)} is not registered`);
  }

  async function begin(owner: ClientOwner, events: AccountEvent[], context: CommandContext): Promise<void> {
    const newEvents = enveloped(events, context, parts.newEventId);
    const result = await appendTo<'registered' | 'already-registered'>(owner, NO_STREAM, (conflict) =>
      conflict ? { kind: 'end', result: 'already-registered' } : toAppend(newEvents, 'registered'),
    );
    if (result === 'registered') return;
    throw new RegistrationRefused(`${ownerText(owner)} is already registered`);
  }

  /** These events depend on no state: after a conflict they are appended again, so a busy account blocks none of them. */
  function appendToKnown(owner: ClientOwner, context: CommandContext, event: AccountEvent): Promise<void> {
    const newEvents = enveloped([event], context, parts.newEventId);
    return appendTo(owner, 0, () => toAppend(newEvents, undefined));
  }

  /** Loads no events: `first` is the revision of the first append, and a conflict has that of the next one. */
  function appendTo<Result>(
    owner: ClientOwner,
    first: number,
    decide: (conflict: Conflict | null) => Verdict<Result>,
  ): Promise<Result> {
    const stream = streamOf(owner);
    return runCommand<Conflict | null, Result>({
      load: async (conflict) => conflict,
      decide,
      append: (conflict, { events }) => append({ stream, events, revision: conflict?.revision ?? first }),
    });
  }
}

/** The operator's commands have no budget. */
function toAppend<Result>(events: readonly NewEvent[], result: Result): Verdict<Result> {
  return { kind: 'append', events, isCharged: false, result };
}

function named<O extends ClientOwner>(owner: O): Named<O> {
  return (typeof owner === 'number' ? { accountId: owner } : { name: owner }) as Named<O>;
}

function issued<O extends ClientOwner>(owner: O, { clientId, clientSecret }: Credential): Issued<O> {
  return { ...named(owner), clientId, clientSecret };
}
