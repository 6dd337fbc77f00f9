/** GET /api/client-certificate: what receivers that demand a client certificate (mutual TLS) have to trust. */
import { object, orNull } from '../schema.js';
import { read } from './read-answer.js';
import { CLIENT_CERTIFICATE } from './shared-schemas.js';

export const showClientCertificate = read({
  id: 'showClientCertificate',
  path: '/api/client-certificate',
  description: 'For receivers that demand one (mutual TLS). Pin its issuer: it is replaced before it expires.',
  needsAccount: false,
  returns: object('ShownClientCertificate', 'The client certificate of the service.', {
    certificate: orNull(CLIENT_CERTIFICATE),
  }),
}).answer(async ({ clientCertificate }) => () => ({ certificate: clientCertificate }));
