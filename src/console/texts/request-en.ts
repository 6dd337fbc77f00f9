/** English, of what was sent beside a payload. */
export const en = {
  headers: 'Headers sent',
  asNow: 'Those of the webhook are listed as they are now.',
  hidden: 'hidden',
  timestamp: 'the second of the attempt',
  signature: 'v1, and a signature of each secret',
  check: 'How to check the signature',
  steps: [
    'Take the raw body, before any JSON parsing.',
    'Join webhook-id, webhook-timestamp and the body with dots.',
    'Compute HMAC-SHA256 with the base64-decoded part of your secret after whsec_.',
    'Compare its base64 with what follows “v1,”, in constant time, and refuse timestamps older than 5 minutes.',
  ],
};

export type RequestTexts = typeof en;
