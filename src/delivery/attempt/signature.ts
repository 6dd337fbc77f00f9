import { createHmac } from 'node:crypto';

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

export interface SignedContent {
  /** webhook-id */
  readonly id: string;
  /** webhook-timestamp, seconds since the epoch. */
  readonly timestamp: number;
  /** The exact bytes of the request body. */
  readonly body: Buffer;
  /** At least one; several during a secret's rotation. */
  readonly secrets: readonly Buffer[];
}

/** The webhook-signature of Standard Webhooks, symmetric: one `v1,<base64>` per secret, separated by spaces. */
export function signatureOf({ id, timestamp, body, secrets }: SignedContent): string {
  let signatures = '';
  for (const secret of secrets) {
    const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64');
    signatures += `${signatures && ' '}v1,${signature}`;
  }
  return signatures;
}

/**
 * The bytes of a signing secret: whsec_ and the base64 of 24 to 64 bytes.
 * @throws RangeError for any other text; the message does not contain the text
 */
export function parseSigningSecret(text: string): Buffer {
  const base64 = SECRET.exec(text)?.[1] ?? '';
  const secret = Buffer.from(base64, 'base64');
  // Encoded again because Buffer.from skips characters that are not base64.
  const exact = secret.toString('base64') === base64;
  if (!exact || secret.length < MIN_SECRET_BYTES || secret.length > MAX_SECRET_BYTES) {
    throw new RangeError('a signing secret is whsec_ and the base64 of 24 to 64 bytes');
  }
  return secret;
}
