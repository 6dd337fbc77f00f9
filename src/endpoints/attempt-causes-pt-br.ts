/** Causes and remedies in Brazilian Portuguese. */
import type { AttemptCauses } from './attempt-causes.js';

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
    'certificate-expired': [
      'Um certificado da cadeia venceu.',
      'Renove e recarregue: servidores mantêm o antigo até recarregar.',
    ],
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
