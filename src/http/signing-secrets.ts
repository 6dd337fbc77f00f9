/** /api/signing-secrets: which sign now and until when; a new one, beside which the one before may sign for 24 hours. */
import { newSigningSecret } from '../accounts/client-credentials.js';
import { MAX_SIGNING_SECRETS } from '../accounts/decide-credentials.js';
import { previousEndsAt, signingAt } from '../read-model/sealed-values.js';
import { flag, list, object, optional, type Static, text, time, timeOrNull } from '../schema.js';
import { signingSecretPlace } from '../secrets/sealing.js';
import type { SealedSecret } from '../webhooks/state.js';
import { mustBeAccepted, registered } from './api-error.js';
import { write } from './operation.js';
import { read } from './read-answer.js';

const SIGNING_SECRET = object('SigningSecret', 'A signing secret, without the secret itself.', {
  issuedAt: time('When it was issued.'),
  endsAt: timeOrNull('Until when it signs. Null for the newest one.'),
});

export const listSigningSecrets = read({
  id: 'listSigningSecrets',
  path: '/api/signing-secrets',
  description: 'Lists the signing secrets of the account that sign now, without the secrets themselves.',
  right: 'secrets',
  usesReserve: true,
  returns: object('SigningSecretList', 'The signing secrets of the account.', {
    secrets: list('Those that sign now, oldest first.', SIGNING_SECRET),
  }),
}).answer(async ({ accounts, now }, { accountId }) => {
  const found = registered(await accounts.credentialsNow(accountId));
  const { signingSecrets } = found.credentials;
  return () => ({ secrets: signingAt(now().getTime(), signingSecrets).map(shown) });
});

function shown({ issuedAt }: SealedSecret, index: number, all: readonly SealedSecret[]) {
  const next = all[index + 1];
  return { issuedAt, endsAt: next ? previousEndsAt(next.issuedAt) : null };
}

const ROTATION = object('SigningSecretRotation', 'How to issue a signing secret.', {
  revokePrevious: optional(flag('True: only the new one signs from now on. If absent, false.')),
});

export const rotateSigningSecret = write({
  id: 'rotateSigningSecret',
  method: 'post',
  path: '/api/signing-secrets',
  description: `Issues a new signing secret. Deliveries are signed with it and, for 24 hours, also with the one before, so that receivers can change. At most ${MAX_SIGNING_SECRETS} secrets sign at the same time. With \`revokePrevious\` the new one alone signs.`,
  right: 'secrets',
  usesReserve: ({ revokePrevious = false }: Static<typeof ROTATION>) => revokePrevious,
  body: { type: 'json', schema: ROTATION, isOptional: true },
  returns: object('IssuedSigningSecret', 'The secret is issued. It is shown only here.', {
    secret: text('The secret: `whsec_` and base64 (Standard Webhooks).'),
    endsAt: time('Until when the one before also signs. Now, if it is revoked.'),
  }),
  status: 201,
  refusals: { 409: `The account has ${MAX_SIGNING_SECRETS} secrets that sign, and they are not revoked.` },
}).answer(async ({ changeCredentials, sealing, randomBytes }, { accountId, body, context, at }) => {
  const { revokePrevious = false } = body;
  const secret = newSigningSecret(randomBytes);
  const sealed = sealing.seal(secret, signingSecretPlace(accountId));
  const command = { type: 'RotateSigningSecret', sealed, revokePrevious, at } as const;
  mustBeAccepted(await changeCredentials(accountId, command, context));
  return { secret, endsAt: revokePrevious ? at : previousEndsAt(at) };
});
