/**
 * Why attempts fail, each with its remedy: by the kind of status; by `error`, where none came; by `reason`, which stands
 * beside an error. The API, the console and the table of docs/receivers.md (`make causes-document`) take their words
 * from here.
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
      'The certificate has expired.',
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

export const CAUSES_PT: AttemptCauses = {
  statuses: {
    redirect: ['O receptor responde com um redirecionamento.', 'Ele não é seguido: cadastre a URL final.'],
    auth: [
      'O receptor recusa nossa requisição.',
      'Confira o segredo de assinatura, e qual cabeçalho ou chave é esperado.',
    ],
    missing: ['O receptor não conhece este caminho.', 'Confira o caminho da URL.'],
    gone: ['O receptor pediu que parássemos (410 Gone).', 'Ative o webhook quando a URL voltar.'],
    busy: ['O receptor pede que enviemos mais devagar.', 'Aumente o limite, ou responda antes de processar.'],
    refused: ['O receptor rejeita o evento.', 'A resposta costuma dizer o motivo: abra uma entrega que falhou.'],
    broken: ['O receptor respondeu com erro interno.', 'Veja os logs nos horários das tentativas.'],
    unknown: ['A última tentativa falhou.', 'Abra uma entrega que falhou para ver a tentativa.'],
  },
  errors: {
    timeout: ['O receptor não responde a tempo.', 'Grave o evento, responda 204 e processe depois.'],
    'connection-refused': ['Nada escuta nesse endereço.', 'Confira se o servidor está no ar, a porta e o firewall.'],
    'connection-reset': ['O receptor fecha a conexão.', 'Procure um proxy ou balanceador que corta requisições.'],
    tls: ['O certificado ou o TLS do receptor não é válido.', 'Envie a cadeia completa, para este host.'],
    host: [
      'O host não leva a um endereço público.',
      'Confira os registros de DNS do host: todos os endereços devem ser públicos.',
    ],
    'invalid-response': ['O receptor não responde em HTTP.', 'Confira o que escuta nesta porta.'],
    network: ['A rede entre nós falhou.', 'Se persistir, confira o firewall e as rotas.'],
  },
  reasons: {
    connecting: ['A conexão não foi estabelecida.', 'Confira DNS e firewall, e se o servidor está no ar.'],
    handshake: [
      'O handshake TLS não foi concluído.',
      'Confira se a porta usa TLS, o log de quem termina o TLS, e firewalls.',
    ],
    'waiting-for-headers': [
      'A requisição foi enviada e nenhuma resposta chegou.',
      'Responda primeiro e processe depois; servidores que caem ou reiniciam também causam isso.',
    ],
    'certificate-expired': ['O certificado venceu.', 'Renove e recarregue: servidores mantêm o antigo até recarregar.'],
    'certificate-not-yet-valid': ['O certificado ainda não é válido.', 'Confira o relógio da máquina que o emitiu.'],
    'certificate-other-name': [
      'O certificado é de outros nomes.',
      'Obtenha um para o host da URL; confira se o servidor o escolhe por SNI.',
    ],
    'certificate-self-signed': [
      'O certificado é autoassinado.',
      'Obtenha um de uma autoridade pública, ou peça ao operador que confie no seu.',
    ],
    'certificate-unknown-issuer': [
      'A autoridade do certificado não é confiável.',
      'Obtenha um de uma autoridade pública, ou peça ao operador que confie na sua.',
    ],
    'intermediate-missing': ['O certificado veio sem o do emissor.', 'Configure a cadeia completa (fullchain.pem).'],
    'client-certificate-required': [
      'É exigido um certificado de cliente.',
      'Confie na autoridade do certificado que GET /api/client-certificate mostra, ou deixe de exigir um.',
    ],
    'no-common-cipher': ['Nenhuma cifra ou troca de chaves em comum.', 'Habilite X25519, P-256 ou P-384 com ECDHE.'],
    'no-http1': ['Só HTTP/2, sem HTTP/1.1.', 'Habilite HTTP/1.1.'],
    'not-tls': ['A porta não usa TLS.', 'Cadastre a porta que usa HTTPS.'],
    'protocol-version': ['Nem TLS 1.2 nem TLS 1.3.', 'Habilite TLS 1.2 ou 1.3.'],
    'not-http': ['A resposta não tem linha de status.', 'Cadastre a URL de um servidor HTTP.'],
    'too-much': ['Chegaram dados demais antes da linha de status.', 'Responda com menos 1xx antes do status.'],
  },
};
