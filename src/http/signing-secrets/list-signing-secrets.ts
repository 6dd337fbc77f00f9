import type { Accounts } from '../../read-model/accounts.js';
import { previousEndsAt, signingAt } from '../../read-model/sealed-values.js';
import type { SealedSecret } from '../../webhooks/state.js';
import { accountNotFound } from '../api-error.js';
import { type Operation, READ, type Route, refusal } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { TIME } from '../shared-schemas.js';

const schema = {
  title: 'SigningSecretList',
  description: 'The signing secrets of an account.',
  type: 'object',
  required: ['secrets'],
  properties: {
    secrets: {
      type: 'array',
      description: 'Those that sign now, oldest first.',
      items: {
        title: 'SigningSecret',
        description: 'A signing secret, without the secret itself.',
        type: 'object',
        required: ['issuedAt', 'endsAt'],
        properties: {
          issuedAt: { ...TIME, description: 'When it was issued.' },
          endsAt: {
            type: ['string', 'null'],
            format: 'date-time',
            description: 'Until when it signs. Null for the newest one.',
          },
        },
      },
    },
  },
} as const;

const LIST_SIGNING_SECRETS: Operation = {
  id: 'listSigningSecrets',
  ...READ,
  path: '/api/signing-secrets',
  tag: 'Signing secrets',
  summary: 'List signing secrets',
  description: 'Lists the signing secrets of the account that sign now, without the secrets themselves.',
  right: 'secrets',
  responses: {
    200: { description: 'The signing secrets of the account.', schema },
    404: refusal('The account is not registered.'),
  },
};

export function listSigningSecrets(
  accounts: Pick<Accounts, 'credentialsNow'>,
  now: () => Date,
  reading: Reading,
): Route {
  return readRoute(LIST_SIGNING_SECRETS, reading, async (accountId) => {
    const found = await accounts.credentialsNow(accountId);
    if (!found) throw accountNotFound();
    const { signingSecrets } = found.credentials;
    return () => ({ secrets: signingAt(now().getTime(), signingSecrets).map(shown) });
  });
}

function shown({ issuedAt }: SealedSecret, index: number, all: readonly SealedSecret[]) {
  const next = all[index + 1];
  return { issuedAt, endsAt: next ? previousEndsAt(next.issuedAt) : null };
}
