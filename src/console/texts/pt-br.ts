/** Brazilian Portuguese. */
import type { Texts } from './en.js';

/** Zero is singular, as one is. */
const many = (count: number, one: string, more: string) => (count < 2 ? one : more);

const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'Tempo esgotado',
  'connection-refused': 'Recusada',
  'connection-reset': 'Interrompida',
  tls: 'Erro de TLS',
  host: 'Host inexistente',
  'invalid-response': 'Não é HTTP',
  network: 'Erro de rede',
};

const CAUSES: Readonly<Record<string, readonly [string, string]>> = {
  redirect: [
    'O receptor responde com um redirecionamento.',
    'Redirecionamentos não são seguidos: cadastre a URL final.',
  ],
  auth: [
    'O receptor recusa nossa requisição.',
    'Confira qual cabeçalho ou chave é esperado e atualize os cabeçalhos do webhook.',
  ],
  missing: ['O receptor não conhece este caminho.', 'Confira o caminho da URL, ou se uma versão nova removeu a rota.'],
  gone: ['O receptor pede que paremos (410 Gone).', 'Ative o webhook quando a URL voltar.'],
  busy: [
    'O receptor pede que enviemos mais devagar.',
    'Esperamos o tempo indicado. Aumente o limite, ou responda antes de processar.',
  ],
  refused: [
    'O receptor rejeita o evento.',
    'A resposta costuma dizer o motivo: abra uma entrega que falhou para lê-la.',
  ],
  broken: ['O receptor falha com um erro próprio.', 'Veja os logs nos horários das tentativas.'],
  timeout: ['O receptor não responde a tempo.', 'Grave o evento, responda 204 e processe depois.'],
  'connection-refused': ['Nada escuta nesse endereço.', 'Confira se o servidor está no ar, a porta e o firewall.'],
  'connection-reset': ['O receptor fecha a conexão.', 'Procure um proxy ou balanceador que corta requisições.'],
  tls: [
    'O certificado ou o TLS do receptor não é válido.',
    'Envie a cadeia completa de uma autoridade pública, para este host.',
  ],
  host: ['O host não leva a um endereço público.', 'Confira os registros de DNS do host.'],
  'invalid-response': ['O receptor não responde em HTTP.', 'Confira o que escuta nesta porta.'],
  network: ['A rede entre nós falhou.', 'Se persistir, confira o firewall e as rotas.'],
};

const REASONS: Readonly<Record<string, string>> = {
  connecting: 'A conexão não foi estabelecida.',
  handshake: 'O handshake TLS não foi concluído.',
  'waiting-for-headers': 'A requisição foi enviada e nenhuma resposta chegou.',
  'certificate-expired': 'O certificado venceu.',
  'certificate-not-yet-valid': 'O certificado ainda não é válido.',
  'certificate-other-name': 'O certificado é de outros nomes.',
  'certificate-self-signed': 'O certificado é autoassinado.',
  'certificate-unknown-issuer': 'A autoridade do certificado não é confiável.',
  'intermediate-missing': 'O certificado veio sem o do emissor.',
};

function causeOf(status: number | null, error: string | null): readonly [string, string] {
  const found = CAUSES[status === null ? (error ?? '') : kindOf(status)];
  return found ?? ['A última tentativa falhou.', 'Abra uma entrega que falhou para ver a tentativa.'];
}

function kindOf(status: number): string {
  if (status < 400) return 'redirect';
  if (status >= 500) return 'broken';
  return { 401: 'auth', 403: 'auth', 404: 'missing', 410: 'gone', 429: 'busy' }[status] ?? 'refused';
}

export const ptBr: Texts = {
  title: 'Webhooks',
  account: (id) => `Conta ${id}`,
  skip: 'Ir para o conteúdo',
  close: 'Fechar',
  cancel: 'Voltar',
  screens: { label: 'Telas', overview: 'Visão geral', deliveries: 'Entregas' },
  menu: {
    nobody: 'Sua sessão',
    until: (time) => `até ${time}`,
    theme: 'Tema',
    themes: { auto: 'Como o sistema', light: 'Claro', dark: 'Escuro' },
    language: 'Idioma',
    may: (rights) => `Esta sessão pode ${rights}.`,
    rights: {
      read: 'ler',
      payloads: 'ver conteúdos',
      resend: 'reenviar',
      configure: 'configurar',
      secrets: 'gerir segredos',
    },
    signOut: 'Sair',
  },
  signedOut: {
    'no-session': {
      title: 'Abra o console pelo portal do seu provedor',
      text: 'O acesso é por um link: o portal do seu provedor de pagamentos abre esta página para você. Não há senha aqui.',
    },
    'unknown-link': {
      title: 'Este link não vale mais',
      text: 'O link de acesso funciona uma vez, em até 60 segundos. Volte ao portal do seu provedor e abra o console de novo.',
    },
    'not-kept': {
      title: 'Seu navegador não guardou a sessão',
      text: 'Esta página está incorporada na página de outro site. Peça ao seu provedor que abra o console em uma aba própria.',
    },
    ended: {
      title: 'Sua sessão terminou',
      text: 'Uma sessão dura no máximo uma hora. Abra o console de novo pelo portal do seu provedor.',
    },
    left: { title: 'Você saiu', text: 'Pode fechar esta página.' },
    unreachable: {
      title: 'O serviço não responde',
      text: 'Deve ser passageiro. Nada se perde: as entregas continuam sem esta página.',
    },
    again: 'Tentar de novo',
    goBack: 'Voltar ao portal',
  },
  notLoaded: { title: 'Não foi possível carregar esta tela', reload: 'Recarregar a página' },
  noScreen: { title: 'Esta página não existe', back: 'Ir para a visão geral' },
  time: { now: 'agora', lasting: (time) => `há ${time}`, in: (time) => `em ${time}`, ago: (time) => `há ${time}` },
  freshness: {
    loading: 'Carregando…',
    justNow: 'Atualizado',
    ago: (time) => `Atualizado há ${time}`,
    failing: (status) => (status === null ? 'O serviço não responde.' : `O serviço responde ${status}.`),
    asOf: (time) => `Dados de ${time}; tentando de novo.`,
    never: 'Tentando de novo.',
  },
  copying: { copy: (what) => `Copiar ${what}`, done: 'Copiado', refused: 'O navegador não permite copiar aqui.' },
  outcomes: {
    delivered: 'Entregue',
    retrying: 'Em espera',
    exhausted: 'Não entregue',
    cancelled: 'Cancelada',
    held: 'Retida',
  },
  eventTypes: {
    cash_in: 'Entrada',
    cash_out: 'Saída',
    refund_in: 'Devolução recebida',
    refund_out: 'Devolução enviada',
    med_created: 'MED aberto',
    med_accepted: 'MED aceito',
    med_rejected: 'MED rejeitado',
  },
  errors: (error) => ERRORS[error] ?? error,
  reason: (reason) => REASONS[reason] ?? reason,
  causes: {
    title: (status, error) => causeOf(status, error)[0],
    remedy: (status, error) => causeOf(status, error)[1],
  },
  missingRights: {
    read: 'Esta sessão não pode ler.',
    payloads: 'Conteúdos e respostas estão ocultos: falta a esta sessão o direito “payloads”.',
    resend: 'Esta sessão não pode reenviar nem cancelar: falta o direito “resend”.',
    configure: 'Esta sessão não pode recuperar: falta o direito “configure”.',
    secrets: 'Esta sessão não pode gerir segredos.',
  },
  overview: {
    title: 'Visão geral',
    traffic: 'Tráfego',
    range: 'Período',
    ranges: { '1h': '1 hora', '24h': '24 horas', '7d': '7 dias' },
  },
  problems: {
    label: 'Estado dos seus webhooks',
    webhook: (id) => `Webhook ${id}`,
    states: { failing: 'Falhando', off: 'Desligado por nós', healthy: 'Voltou a funcionar', untried: 'Nunca usado' },
    waiting: (count, shown) => `${shown} ${many(count, 'entrega espera', 'entregas esperam')} a próxima tentativa`,
    held: (count, shown) => `${shown} ${many(count, 'retida: publicada', 'retidas: publicadas')} com a URL desligada`,
    switchedOff: 'Será desligada',
    offRemedy: 'Os pagamentos que chegam enquanto isso ficam retidos, não se perdem. Ative o webhook e recupere-os.',
    open: 'Ver entregas',
    recover: 'Recuperar…',
    activate: 'Ativar',
    activated: 'Ativo de novo. O que ficou retido continua guardado: recupere-o.',
    activateFailed: 'Não foi possível ativar o webhook.',
    allWell: (healthy, others) => {
      const well = `${healthy} ${many(healthy, 'webhook entrega', 'webhooks entregam')} normalmente`;
      return others > 0 ? `${well}; ${others} sem eventos ou em pausa` : well;
    },
    othersWell: (count) => `${many(count, 'Outro webhook entrega', `Outros ${count} webhooks entregam`)} normalmente`,
    noWebhooks: {
      title: 'Nenhum webhook ainda',
      text: 'Cadastre uma URL HTTPS para um tipo de evento. As entregas aparecem aqui em um segundo.',
      example:
        'curl $SERVICE/api/webhooks \\\n  -H "authorization: Bearer $TOKEN" \\\n  --json \'{ "url": "https://example.com/hooks", "eventType": "cash_in" }\'',
    },
  },
  disputes: { title: 'Avisos de MED que não chegaram' },
  figures: {
    success: 'Tentativas com sucesso',
    ofAttempts: (count, shown) => `de ${shown} ${many(count, 'tentativa', 'tentativas')}`,
    delivered: 'Entregues',
    waiting: 'Em espera',
    now: 'neste momento',
    givenUp: 'Não entregues',
    held: 'Retidas',
    heldNote: 'com a URL desligada',
  },
  charts: {
    attempts: 'Tentativas',
    delivered: 'Entregues',
    failed: 'Falhas',
    held: 'Retidas',
    latency: 'Tempo de resposta',
    since: (time) => `Contado desde ${time}.`,
  },
  deliveries: {
    title: 'Entregas',
    all: 'Todas',
    outcome: 'Resultado',
    event: 'Evento',
    webhook: 'Webhook',
    lastAnswer: 'Última resposta',
    attempts: 'Tentativas',
    published: 'Publicado',
    period: 'Qualquer data',
    periods: { hour: 'Última hora', day: 'Últimas 24 horas', week: 'Últimos 7 dias' },
    statuses: {
      '2xx': '2xx, aceitas',
      '3xx': '3xx, redirecionadas',
      '4xx': '4xx, recusadas',
      '5xx': '5xx, erros',
      none: 'Sem resposta',
    },
    searchHint: 'Buscar pelo id do evento',
    clear: 'Limpar filtros',
    choose: (eventId) => `Selecionar ${eventId}`,
    chooseAll: 'Selecionar todas desta página',
    next: 'próxima',
    notTried: 'ainda não tentada',
    removedWebhook: (id) => `webhook ${id}, removido`,
    pages: 'Páginas',
    newest: 'Voltar às mais novas',
    older: 'Mais antigas',
    noneHere: 'Nenhuma até aqui: procure mais atrás.',
    oldest: 'Estas são as mais antigas.',
    thatIsAll: (count) => many(count, 'É a única.', `São todas: ${count}.`),
    none: {
      title: 'Nenhuma entrega ainda',
      text: 'Quando um evento de pagamento é publicado para um webhook ativo, a entrega aparece aqui em um segundo.',
    },
    noMatch: {
      title: 'Nada corresponde a estes filtros',
      text: 'Amplie o período ou remova um filtro.',
      eventId: (id) =>
        `Nenhuma entrega do evento “${id}”. O id deve ser exato; talvez nenhum webhook estivesse ativo para o tipo.`,
    },
  },
  resending: {
    selected: (count) => many(count, `${count} selecionada`, `${count} selecionadas`),
    clear: 'Limpar',
    resend: (count) => `Reenviar ${count}`,
    title: (count) => many(count, 'Reenviar 1 entrega?', `Reenviar ${count} entregas?`),
    explained:
      'Cada uma ganha mais uma tentativa agora, com o mesmo webhook-id. Quem já a recebeu pode reconhecê-la por esse id.',
    sending: (at, count) => `Enviando ${at} de ${count}`,
    done: (count) => many(count, '1 entrega está a caminho.', `${count} entregas estão a caminho.`),
    someFailed: (failed, count) => `${failed} de ${count} não puderam ser reenviadas.`,
  },
  cancelling: {
    title: 'Cancelar esta entrega?',
    explained: '1 entrega termina como cancelada, e o receptor não recebe este evento. Ainda será possível reenviá-la.',
    keep: 'Continuar esperando',
    cancel: 'Cancelar entrega',
    done: 'A entrega foi cancelada.',
    failed: 'A entrega não pôde ser cancelada.',
  },
  delivery: {
    notThere: {
      title: 'Entrega não encontrada',
      text: (id) => `Esta conta não tem a entrega ${id}, ou ela é mais antiga do que o que se guarda.`,
      back: 'Todas as entregas',
    },
    story: {
      delivered: (attempts) =>
        many(
          attempts,
          'Aceita pelo receptor na primeira tentativa.',
          `Aceita pelo receptor após ${attempts} tentativas.`,
        ),
      retrying: (attempts) =>
        attempts === 0
          ? 'Espera a primeira tentativa.'
          : `Ainda não aceita, após ${attempts} ${many(attempts, 'tentativa', 'tentativas')}. Tentaremos de novo sozinhos.`,
      exhausted: (attempts) =>
        `Não entregue após ${attempts} ${many(attempts, 'tentativa', 'tentativas')}. Está guardada: reenvie quando o receptor estiver pronto.`,
      held: () => 'Não enviada, porque a URL estava desligada. Está guardada: ative o webhook e reenvie ou recupere.',
      cancelled: () => 'Cancelada pela conta: o receptor não a recebeu.',
    },
    resend: 'Reenviar agora',
    resending: 'Enviando…',
    resent: 'Mais uma tentativa está a caminho.',
    resendFailed: 'Não foi possível reenviar.',
    cancel: 'Cancelar…',
    curl: 'como curl',
    link: 'link',
    timeline: 'Linha do tempo',
    steps: {
      published: 'Publicado pelo sistema de pagamentos',
      routed: 'Encaminhado a este webhook',
      attempt: (number) => `Tentativa ${number}`,
      answer: 'Resposta',
      reconfigured: (from, to) => `Webhook alterado: versão ${from} para ${to}`,
      resending: 'Enviando de novo…',
      next: (number) => `Tentativa ${number} a seguir`,
      nextUnknown: 'Espera na fila da URL.',
      givenUp: 'Não entregue',
      givenUpExplained: 'Não há outra tentativa prevista. O evento está guardado como dead letter.',
      held: 'Retida',
      heldExplained: 'O serviço havia desligado esta URL. O evento está guardado.',
      cancelled: 'Cancelada',
    },
    triggers: {
      event: () => '',
      retry: () => 'nova tentativa automática',
      resend: (actor) => (actor ? `reenviada por ${actor}` : 'reenviada'),
      recover: (actor) => (actor ? `recuperada por ${actor}` : 'recuperada'),
      replay: (actor) => (actor ? `repetida por ${actor}` : 'repetida pelo operador'),
    },
    facts: {
      url: 'URL',
      eventId: 'Id do evento',
      allOfEvent: 'Todas as entregas deste evento',
      eventType: 'Tipo de evento',
      published: 'Publicado',
      removed: (id) => `Webhook ${id}, removido`,
    },
    payload: {
      title: 'Conteúdo',
      raw: 'Original',
      lost: 'O conteúdo não está mais guardado.',
      until: (time) => `Como publicado, byte a byte. Guardado até ${time}.`,
    },
    request: {
      headers: 'Cabeçalhos enviados',
      hidden: 'oculto',
      timestamp: 'o segundo da tentativa',
      signature: 'v1, e uma assinatura de cada segredo',
      check: 'Como verificar a assinatura',
      steps: [
        'Use o corpo original, antes de qualquer leitura do JSON.',
        'Junte webhook-id, webhook-timestamp e o corpo com pontos.',
        'Calcule HMAC-SHA256 com a parte do segredo depois de whsec_, decodificada de base64.',
        'Compare o base64 com o que vem após “v1,”, em tempo constante, e recuse horários com mais de 5 minutos.',
      ],
    },
  },
  recover: {
    title: 'Recuperar entregas',
    explained: 'Envia de novo o que esta URL não aceitou, do mais antigo ao mais novo, uma vez cada.',
    since: 'Publicadas desde',
    sinceHint: 'O último sucesso',
    sinceDayHint: 'Nunca teve sucesso: 24 horas atrás',
    until: 'Até',
    untilHint: 'Vazio: agora',
    which: 'Quais',
    included: {
      exhausted: { name: 'Não entregues', hint: 'sem outra tentativa prevista' },
      retrying: { name: 'Em espera', hint: 'em vez da próxima tentativa' },
      held: { name: 'Retidas', hint: 'publicadas com a URL desligada' },
    },
    rate: 'Velocidade',
    perSecond: (rate) => `${rate} por segundo`,
    preview: {
      none: 'Escolha ao menos um tipo.',
      counting: 'Contando…',
      nothing: 'Nada a enviar neste período.',
      sends: (count, shown) => `Envia ${shown} ${many(count, 'entrega', 'entregas')}`,
      takes: (rate, time) => `a ${rate} por segundo, cerca de ${time}.`,
      span: (oldest, newest) => `Publicadas entre ${oldest} e ${newest}.`,
    },
    start: (count) => (count > 0 ? `Enviar ${count.toLocaleString('pt-BR')}` : 'Enviar'),
    failed: 'A recuperação não pôde ser alterada.',
    states: { running: 'Enviando', sent: 'Todas enviadas', done: 'Concluída', stopped: 'Parada' },
    left: (time) => `faltam cerca de ${time}`,
    sent: 'Enviadas',
    of: (sent, count) => `${sent} de ${count}`,
    delivered: 'Entregues',
    failedCount: 'Falharam de novo',
    running: 'Recuperações em andamento',
    open: 'Ver progresso',
    awaited: 'Ainda sem resposta',
    mayClose: 'O envio continua se você fechar esta janela ou a página.',
    stoppedExplained: 'O que não foi enviado fica como estava. Você pode recuperar o resto depois.',
    doneExplained: 'O que falhou de novo está guardado: corrija o receptor e recupere mais uma vez.',
    stop: 'Parar',
  },
};
