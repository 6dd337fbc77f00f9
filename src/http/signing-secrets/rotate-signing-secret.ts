import type { ChangeCredentials } from '../../accounts/change-credentials.js';
import { newSigningSecret, type RandomBytes } from '../../accounts/client-credentials.js';
import { MAX_SIGNING_SECRETS } from '../../accounts/decide-credentials.js';
import { previousEndsAt } from '../../read-model/sealed-values.js';
import { type Sealing, signingSecretPlace } from '../../secrets/sealing.js';
import { type Operation, type Route, refusal, route, TOO_MUCH } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { mustBeDone } from '../sessions/credential-decision.js';
import { TIME } from '../shared-schemas.js';

const ROTATE_SIGNING_SECRET: Operation = {
  id: 'rotateSigningSecret',
  method: 'post',
  path: '/api/signing-secrets',
  tag: 'Signing secrets',
  summary: 'Issue a new signing secret',
  description: `Issues a new signing secret. Deliveries are signed with it and, for 24 hours, also with the one before, so that receivers can change. At most ${MAX_SIGNING_SECRETS} secrets sign at the same time.`,
  security: 'bearer',
  right: 'secrets',
  rateLimit: 'writes',
  responses: {
    201: {
      description: 'The secret is issued. It is shown only here.',
      schema: {
        title: 'IssuedSigningSecret',
        description: 'A new signing secret.',
        type: 'object',
        required: ['secret', 'endsAt'],
        properties: {
          secret: { type: 'string', description: 'The secret: `whsec_` and base64 (Standard Webhooks).' },
          endsAt: { ...TIME, description: 'Until when the one before also signs.' },
        },
      },
    },
    404: refusal('The account is not registered.'),
    409: refusal(`The account has ${MAX_SIGNING_SECRETS} secrets that sign.`),
    429: TOO_MUCH,
  },
};

export interface RotateParts {
  readonly changeCredentials: ChangeCredentials;
  readonly sealing: Sealing;
  readonly randomBytes: RandomBytes;
  readonly now: () => Date;
}

export function rotateSigningSecret({ changeCredentials, sealing, randomBytes, now }: RotateParts): Route {
  return route(ROTATE_SIGNING_SECRET, async (ctx) => {
    const { accountId, actor } = callerOf(ctx);
    const secret = newSigningSecret(randomBytes);
    const sealed = sealing.seal(secret, signingSecretPlace(accountId));
    const at = now().toISOString();
    const command = { type: 'RotateSigningSecret', sealed, at } as const;
    mustBeDone(await changeCredentials(accountId, command, commandContext(ctx, actor)));
    ctx.status = 201;
    ctx.body = { secret, endsAt: previousEndsAt(at) };
  });
}
