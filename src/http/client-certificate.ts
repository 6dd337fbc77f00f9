/** GET /api/client-certificate: what receivers that demand a client certificate (mutual TLS) have to trust. */
import type { Admission } from './admission.js';
import { read } from './operation.js';
import { readRoute } from './read-answer.js';
import { object, orNull, type Static, text, time } from './schema.js';

const CERTIFICATE = object('ClientCertificate', 'Null: the service shows none.', {
  subject: text('Its distinguished name, one attribute a line.'),
  issuer: text('That of its issuer.'),
  fingerprint: text('SHA-256 of the certificate, in hexadecimal with colons.'),
  validFrom: time('From when it is valid.'),
  validTo: time('Until when it is valid.'),
  pem: text('The certificate and its chain, in PEM.'),
});
export type ClientCertificate = Static<typeof CERTIFICATE>;

const SHOW_CLIENT_CERTIFICATE = read({
  id: 'showClientCertificate',
  path: '/api/client-certificate',
  summary: 'Show the client certificate of deliveries',
  description: 'For receivers that demand one (mutual TLS). Pin its issuer: it is replaced before it expires.',
  needsAccount: false,
  responses: {
    200: object('ShownClientCertificate', 'The client certificate of the service.', {
      certificate: orNull(CERTIFICATE),
    }),
  },
});

interface Parts {
  readonly clientCertificate: ClientCertificate | null;
  readonly admission: Admission;
}

export function showClientCertificate({ clientCertificate, admission }: Parts) {
  return readRoute(SHOW_CLIENT_CERTIFICATE, admission, async () => () => ({ certificate: clientCertificate }));
}
