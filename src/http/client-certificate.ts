/** GET /api/client-certificate: what receivers that demand a client certificate (mutual TLS) have to trust. */
import { type Operation, READ, type Route } from './operation.js';
import { type Reading, readRoute } from './read-answer.js';
import { TIME } from './shared-schemas.js';

const schema = {
  title: 'ShownClientCertificate',
  description: 'The client certificate of the service.',
  type: 'object',
  required: ['certificate'],
  properties: {
    certificate: {
      title: 'ClientCertificate',
      description: 'Null: the service shows none.',
      type: ['object', 'null'],
      required: ['subject', 'issuer', 'fingerprint', 'validFrom', 'validTo', 'pem'],
      properties: {
        subject: { type: 'string', description: 'Its distinguished name, one attribute a line.' },
        issuer: { type: 'string', description: 'That of its issuer.' },
        fingerprint: { type: 'string', description: 'SHA-256 of the certificate, in hexadecimal with colons.' },
        validFrom: { ...TIME, description: 'From when it is valid.' },
        validTo: { ...TIME, description: 'Until when it is valid.' },
        pem: { type: 'string', description: 'The certificate and its chain, in PEM.' },
      },
    },
  },
} as const;

const SHOW_CLIENT_CERTIFICATE: Operation = {
  id: 'showClientCertificate',
  ...READ,
  path: '/api/client-certificate',
  tag: 'Deliveries',
  summary: 'Show the client certificate of deliveries',
  description:
    'Shows the client certificate that the service presents to receivers that demand one (mutual TLS). Pin its issuer rather ' +
    'than the certificate: it is replaced before it expires.',
  responses: { 200: { description: 'The client certificate, or null.', schema } },
};

export interface ClientCertificate {
  readonly subject: string;
  readonly issuer: string;
  readonly fingerprint: string;
  readonly validFrom: string;
  readonly validTo: string;
  readonly pem: string;
}

export function showClientCertificate(certificate: ClientCertificate | null, reading: Reading): Route {
  return readRoute(SHOW_CLIENT_CERTIFICATE, reading, async () => () => ({ certificate }));
}
