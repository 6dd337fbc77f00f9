/** A request like that of a delivery, for a terminal. */
import type { DetailedDelivery } from '../api/shapes.js';

/**
 * The webhook's header values and the signature are left out: they are secrets, and a signature is valid for minutes only. Of a
 * payload `@path`, which anyone may publish, curl would send that file, and of a URL with [1-3] it would make three.
 */
export function curlOf({ id, payload, request }: DetailedDelivery, url: string): string {
  const sent = [
    `content-type: ${request.contentType}`,
    `webhook-id: ${id}`,
    'webhook-timestamp: <seconds>',
    'webhook-signature: <v1,base64>',
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${isAttribute(name) ? value : '<value>'}`),
  ];
  const lines = [
    `curl --globoff ${quoted(url)}`,
    ...sent.map((header) => `-H ${quoted(header)}`),
    `--data-raw ${quoted(payload ?? '')}`,
  ];
  return lines.join(' \\\n  ');
}

/** Of a CloudEvent: it is no secret to those that see its payload. */
export const isAttribute = (name: string) => name.startsWith('ce-');

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
