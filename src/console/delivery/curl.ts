/** A request like that of a delivery, for a terminal. */
import type { DetailedDelivery } from '../api/shapes.js';
import type { Webhook } from '../state/webhooks.js';

/** Header values and the signature are left out: they are secrets, and a signature is valid for minutes only. */
export function curlOf({ id, payload }: DetailedDelivery, { url, headers }: Webhook): string {
  const sent = [
    'content-type: application/json',
    `webhook-id: ${id}`,
    'webhook-timestamp: <seconds>',
    'webhook-signature: <v1,base64>',
    ...Object.keys(headers).map((name) => `${name}: <value>`),
  ];
  const lines = [
    `curl ${quoted(url)}`,
    ...sent.map((header) => `-H ${quoted(header)}`),
    `--data-binary ${quoted(payload ?? '')}`,
  ];
  return lines.join(' \\\n  ');
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
