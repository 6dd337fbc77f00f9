/**
 * Why attempts fail, each with its remedy: by the kind of status; by `error`, where none came; by `reason`, which stands
 * beside an error. The API, the console and the table of docs/receivers.md (`make causes-document`) take their words
 * from here; attempt-causes-pt-br.ts has the same in Portuguese, apart: a reader of the console loads one language.
 */
type Texts = readonly [sentence: string, remedy: string];

const EN = {
  statuses: {
    redirect: ['The receiver answers with a redirect.', 'Redirects are not followed: register the final URL.'],
    auth: ['The receiver refuses our request.', 'Check the signing secret, and which header or key it expects.'],
    missing: ['The receiver does not know this path.', 'Check the path of the URL.'],
    gone: ['The receiver asks us to stop (410 Gone).', 'Activate the webhook when the URL is back.'],
    busy: ['The receiver asks us to slow down.', 'We do. Raise its limit, or answer before you work.'],
    refused: ['The receiver rejects the event.', 'Its answer usually says why: open a failed delivery to read it.'],
    broken: ['The receiver fails with an error of its own.', 'Look at its logs at the times of the attempts.'],
    unknown: ['The last attempt failed.', 'Open a failed delivery to see the attempt.'],
  },
  errors: {
    timeout: ['The receiver does not answer in time.', 'Store the event, answer 204, and work afterwards.'],
    'connection-refused': ['Nothing listens at this address.', 'Check that the server runs, its port and firewall.'],
    'connection-reset': ['The receiver closes the connection.', 'Look for a proxy that cuts requests off.'],
    tls: ['The receiver’s certificate or TLS is not valid.', 'Send the whole chain, for this host name.'],
    host: [
      'The host name leads to no public address.',
      'Check the DNS entries of the host: all its addresses must be public.',
    ],
    'invalid-response': ['The receiver does not answer with HTTP.', 'Check what listens on this port.'],
    network: ['The network between us failed.', 'If it lasts, check your firewall and routes.'],
  },
  reasons: {
    connecting: ['No connection was established.', 'Check DNS and firewall, and that the server runs.'],
    handshake: [
      'The TLS handshake was not completed.',
      'Check that the port speaks TLS, the log of what terminates TLS, and firewalls.',
    ],
    'waiting-for-headers': [
      'The request was sent, and no status line came.',
      'Answer first, work later; servers that crash or restart show this, too.',
    ],
    'certificate-expired': [
      'A certificate of the chain has expired.',
      'Renew it, and load it: servers keep the old one until they reload.',
    ],
    'certificate-not-yet-valid': ['The certificate is not valid yet.', 'Check the clock of the machine that made it.'],
    'certificate-other-name': [
      'The certificate is for other names.',
      'Get one for the host in the URL; check that the server selects it by SNI.',
    ],
    'certificate-self-signed': [
      'The certificate is self-signed.',
      'Get one of a public authority, or ask the operator to trust yours.',
    ],
    'certificate-unknown-issuer': [
      'The certificate’s authority is not trusted.',
      'Get a certificate of a public authority, or ask the operator to trust yours.',
    ],
    'intermediate-missing': [
      'The certificate came without that of its issuer.',
      'Configure the whole chain (fullchain.pem).',
    ],
    'client-certificate-required': [
      'A client certificate is demanded.',
      'Trust the authority of the certificate that GET /api/client-certificate shows, or stop demanding one.',
    ],
    'no-common-cipher': ['No cipher suite or key exchange is shared.', 'Enable X25519, P-256 or P-384 with ECDHE.'],
    'no-http1': ['HTTP/2 only, without HTTP/1.1.', 'Enable HTTP/1.1.'],
    'not-tls': ['The port does not speak TLS.', 'Register the port that speaks HTTPS.'],
    'protocol-version': ['Neither TLS 1.2 nor TLS 1.3.', 'Enable TLS 1.2 or 1.3.'],
    'not-http': ['The answer has no status line.', 'Register the URL of an HTTP server.'],
    'too-much': ['Too much came before a status line.', 'Answer with fewer 1xx before the status.'],
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Texts>>>>;

export type AttemptCauses = { readonly [K in keyof typeof EN]: Readonly<Record<keyof (typeof EN)[K], Texts>> };

export const CAUSES: AttemptCauses = EN;
