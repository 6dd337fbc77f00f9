/** Brazilian Portuguese. */
import type { Reason } from '../api/shapes.js';
import { type Causes, causeIn } from '../format/causes.js';
import type { Texts } from './en.js';

/** Zero is singular, as one is. */
const many = (count: number, one: string, more: string) => (count < 2 ? one : more);

const SERVICE = 'o serviço';
const OPERATOR = 'operador ';
const by = (actor: string) =>
  actor === SERVICE ? 'pelo serviço' : `${actor.startsWith(OPERATOR) ? 'pelo' : 'por'} ${actor}`;

/** Of a count that is formatted already. */
const manyShown = (shown: string, one: string, more: string) => `${shown} ${/^[01]$/.test(shown) ? one : more}`;

const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'Tempo esgotado',
  'connection-refused': 'Recusada',
  'connection-reset': 'Interrompida',
  tls: 'Erro de TLS',
  host: 'Host inexistente',
  'invalid-response': 'Não é HTTP',
  network: 'Erro de rede',
};

const CAUSES: Causes = {
  redirect: [
    'O receptor responde com um redirecionamento.',
    'Redirecionamentos não são seguidos: cadastre a URL final.',
  ],
  auth: [
    'O receptor recusa nossa requisição.',
    'Confira qual cabeçalho ou chave é esperado e atualize os cabeçalhos do webhook.',
  ],
  missing: ['O receptor não conhece este caminho.', 'Confira o caminho da URL, ou se uma versão nova removeu a rota.'],
  gone: ['O receptor pediu que parássemos (410 Gone).', 'Ative o webhook quando a URL voltar.'],
  busy: [
    'O receptor pede que enviemos mais devagar.',
    'Esperamos o tempo indicado. Aumente o limite, ou responda antes de processar.',
  ],
  refused: [
    'O receptor rejeita o evento.',
    'A resposta costuma dizer o motivo: abra uma entrega que falhou para lê-la.',
  ],
  broken: ['O receptor respondeu com erro interno.', 'Veja os logs nos horários das tentativas.'],
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
  unknown: ['A última tentativa falhou.', 'Abra uma entrega que falhou para ver a tentativa.'],
};

const REASONS: Readonly<Record<Reason, string>> = {
  connecting: 'A conexão não foi estabelecida.',
  handshake: 'O handshake TLS não foi concluído.',
  'waiting-for-headers': 'A requisição foi enviada e nenhuma resposta chegou.',
  'certificate-expired': 'O certificado venceu.',
  'certificate-not-yet-valid': 'O certificado ainda não é válido.',
  'certificate-other-name': 'O certificado é de outros nomes.',
  'certificate-self-signed': 'O certificado é autoassinado.',
  'certificate-unknown-issuer': 'A autoridade do certificado não é confiável.',
  'intermediate-missing': 'O certificado veio sem o do emissor.',
  'client-certificate-required': 'É exigido um certificado de cliente.',
  'no-common-cipher': 'Nenhuma cifra em comum.',
  'no-http1': 'Só HTTP/2, sem HTTP/1.1.',
  'not-tls': 'A porta não usa TLS.',
  'protocol-version': 'Nem TLS 1.2 nem TLS 1.3.',
  'not-http': 'A resposta não tem linha de status.',
  'too-much': 'Chegaram dados demais antes da linha de status.',
};

export const ptBr: Texts = {
  title: 'Webhooks',
  account: (id) => `Conta ${id}`,
  skip: 'Ir para o conteúdo',
  close: 'Fechar',
  cancel: 'Voltar',
  screens: {
    label: 'Telas',
    overview: 'Visão geral',
    webhooks: 'Webhooks',
    deliveries: 'Entregas',
    events: 'Eventos',
    history: 'Histórico',
    security: 'Segurança',
  },
  menu: {
    nobody: 'Sua sessão',
    until: (time) => `até ${time}`,
    theme: 'Tema',
    themes: { auto: 'Igual ao sistema', light: 'Claro', dark: 'Escuro' },
    language: 'Idioma',
    may: (rights) => `Esta sessão pode ${rights}.`,
    rights: {
      read: 'ler',
      payloads: 'ver conteúdos',
      resend: 'reenviar',
      configure: 'configurar',
      secrets: 'gerenciar segredos',
    },
    signOut: 'Sair',
    signOutFailed: 'Você continua conectado: não foi possível encerrar a sessão. Tente de novo.',
  },
  signedOut: {
    'no-session': {
      title: 'Abra o console pelo portal do seu provedor',
      text: 'O acesso é por um link: o portal do seu provedor de pagamentos abre esta página para você. Não há senha aqui.',
    },
    'unknown-link': {
      title: 'Este link não é mais válido',
      text: 'O link de acesso funciona uma vez, em até 60 segundos. Volte ao portal do seu provedor e abra o console de novo.',
    },
    'not-kept': {
      title: 'Seu navegador não guardou a sessão',
      text: 'Esta página está incorporada na página de outro site. Peça ao seu provedor que abra o console em uma aba própria.',
    },
    ended: {
      title: 'Sua sessão terminou',
      text: 'Ela expirou ou foi encerrada em outro lugar. Abra o console de novo pelo portal do seu provedor.',
    },
    left: { title: 'Você saiu', text: 'Pode fechar esta página.' },
    unreachable: {
      title: 'O serviço não responde',
      text: 'Deve ser temporário. Nada se perde: as entregas continuam sem esta página.',
    },
    again: 'Tentar de novo',
    goBack: 'Voltar ao portal',
  },
  notLoaded: { title: 'Não foi possível carregar esta parte da página', reload: 'Recarregar a página' },
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
    exhausted: 'Esgotada',
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
  reason: (reason) => REASONS[reason],
  causes: {
    title: (status, error) => causeIn(CAUSES, status, error)[0],
    remedy: (status, error) => causeIn(CAUSES, status, error)[1],
  },
  missingRights: {
    payloads: 'Conteúdos e respostas estão ocultos: falta a esta sessão o direito “payloads”.',
    resend: 'Esta sessão não pode reenviar nem cancelar: falta o direito “resend”.',
    secrets: 'Esta sessão não pode gerenciar segredos.',
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
    states: { failing: 'Falhando', off: 'Desligado por nós', healthy: 'Voltou a funcionar', untried: 'Ativo de novo' },
    paused: 'Pausado pela sua conta',
    waiting: (count, shown) => `${shown} ${many(count, 'entrega espera', 'entregas esperam')} a próxima tentativa`,
    held: (count, shown) => `${shown} ${many(count, 'retida: publicada', 'retidas: publicadas')} com a URL desligada`,
    switchedOff: 'Será desligada',
    atNextFailure: 'na próxima tentativa que falhar',
    offRemedy:
      'Os pagamentos que chegam enquanto isso ficam retidos, não se perdem. Ative o webhook e recupere-os, junto com os que não foram entregues antes.',
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
      noRight: 'Alguém com o direito “configure” pode adicionar um.',
      add: 'Adicionar um webhook',
    },
  },
  disputes: {
    title: 'Avisos de MED que não chegaram',
    explained: 'O MED, Mecanismo Especial de Devolução do Pix, tem prazos.',
    shown: (shown, count) => `${shown} de ${count}`,
    showAll: (count) => `Mostrar todos os ${count}`,
  },
  figures: {
    success: 'Tentativas com sucesso',
    ofAttempts: (count, shown) => `de ${shown} ${many(count, 'tentativa', 'tentativas')}`,
    delivered: 'Entregues',
    waiting: 'Em espera',
    now: 'neste momento',
    givenUp: 'Esgotadas',
    held: 'Retidas',
    heldNote: 'com a URL desligada',
  },
  charts: {
    attempts: 'Tentativas e entregas retidas',
    delivered: 'Com sucesso',
    failed: 'Falhas',
    latency: 'Tempo de resposta das entregas que chegaram',
    since: (time) => `Contado desde ${time}.`,
  },
  deliveries: {
    all: 'Todas as entregas',
    tabs: {
      all: 'Todas',
      retrying: 'Em espera',
      exhausted: 'Esgotadas',
      held: 'Retidas',
      delivered: 'Entregues',
      cancelled: 'Canceladas',
    },
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
    searchHint: 'Buscar por id do evento ou webhook-id (msg_…)',
    searchExample: 'Id do evento ou msg_…',
    search: 'Buscar',
    clear: 'Limpar filtros',
    choose: (eventId) => `Selecionar ${eventId}`,
    chooseAll: 'Selecionar todas desta página',
    next: 'próxima',
    notTried: 'ainda não tentada',
    removedWebhook: (id) => `webhook ${id}, removido`,
    pages: 'Páginas',
    newest: 'Voltar ao início',
    older: 'Anteriores',
    noneHere: 'Nada até aqui: veja as anteriores.',
    oldest: 'Fim da lista.',
    thatIsAll: (count) => `Total: ${count}.`,
    none: {
      title: 'Nenhuma entrega ainda',
      text: 'Quando um evento de pagamento é publicado para um webhook ativo, a entrega aparece aqui em um segundo.',
      webhooks: 'Ver webhooks',
    },
    noMatch: {
      title: 'Nada corresponde a estes filtros',
      advice: (hasPeriod) => (hasPeriod ? 'Amplie o período ou remova um filtro.' : 'Remova um filtro.'),
      exact: 'O id deve ser exato: maiúsculas e minúsculas são diferentes.',
      eventId: (id) =>
        `Nenhuma entrega do evento “${id}”. Maiúsculas e minúsculas são diferentes; talvez nenhum webhook estivesse ativo para o tipo.`,
    },
  },
  resending: {
    selected: (count) => many(count, `${count} selecionada`, `${count} selecionadas`),
    clear: 'Limpar',
    resend: (count) => `Reenviar ${count}`,
    title: (count) => many(count, 'Reenviar 1 entrega?', `Reenviar ${count} entregas?`),
    explained:
      'Cada uma terá mais uma tentativa agora, com o mesmo webhook-id. Quem já a recebeu pode reconhecê-la por esse id.',
    sending: (at, count) => `Enviando ${at} de ${count}`,
    done: (count) => many(count, '1 entrega está a caminho.', `${count} entregas estão a caminho.`),
    someFailed: (failed, count) =>
      `${failed} de ${count} ${many(failed, 'não pôde ser reenviada', 'não puderam ser reenviadas')}.`,
  },
  delivery: {
    notThere: {
      title: 'Entrega não encontrada',
      text: (id) => `Esta conta não tem a entrega ${id}, ou ela é antiga demais e já não está guardada.`,
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
          ? 'Aguardando a primeira tentativa.'
          : `Ainda não aceita, após ${attempts} ${many(attempts, 'tentativa', 'tentativas')}. Tentaremos de novo automaticamente.`,
      exhausted: (attempts) =>
        `${attempts === 0 ? 'Nenhuma tentativa foi feita e nenhuma' : `${many(attempts, 'A única tentativa falhou', `As ${attempts} tentativas falharam`)} e nenhuma outra`} está prevista. O evento está guardado: reenvie quando o receptor estiver pronto.`,
      held: () => 'Não enviada, porque a URL estava desligada. Está guardada: ative o webhook e reenvie ou recupere.',
      cancelled: () => 'Cancelada pela conta: o receptor não aceitou este evento.',
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
      resending: 'Enviando de novo…',
      next: (number) => `Tentativa ${number} a seguir`,
      nextUnknown: 'Espera na fila da URL.',
      givenUp: 'Tentativas esgotadas',
      givenUpExplained: 'Não há outra tentativa prevista. O evento está guardado como dead letter.',
      held: 'Retida',
      heldExplained: 'O serviço havia desligado esta URL. O evento está guardado.',
      cancelled: 'Cancelada',
    },
    triggers: {
      event: () => '',
      retry: () => 'nova tentativa automática',
      resend: (actor) => (actor ? `reenviada ${by(actor)}` : 'reenviada'),
      recover: (actor) => (actor ? `recuperada ${by(actor)}` : 'recuperada'),
      replay: (actor) => (actor ? `repetida ${by(actor)}` : 'repetida pelo operador'),
    },
    facts: {
      url: 'URL',
      eventId: 'Id do evento',
      allOfEvent: 'Todas as entregas deste evento',
      eventType: 'Tipo de evento',
      removed: (id) => `Webhook ${id}, removido`,
    },
    payload: {
      title: 'Conteúdo',
      raw: 'Original',
      lost: 'O conteúdo não está mais guardado.',
      unreadable: 'Não é possível ler o conteúdo neste momento.',
      until: (time) => `Como publicado, byte a byte. Guardado até ${time}.`,
    },
  },
  changes: {
    types: {
      AccountRegistered: 'Conta cadastrada',
      CredentialIssued: 'Credencial emitida',
      CredentialRevoked: 'Credencial revogada',
      SigningSecretIssued: 'Segredo de assinatura emitido',
      PortalSessionOpened: 'Sessão aberta',
      PortalSessionEntered: 'Sessão iniciada',
      PortalSessionEnded: 'Sessão encerrada',
      WebhookAdded: 'Webhook adicionado',
      WebhookUpdated: 'Webhook alterado',
      WebhookActivated: 'Webhook ativado',
      WebhookDeactivated: 'Webhook desligado',
      WebhookRemoved: 'Webhook removido',
      EndpointFailing: 'URL falhando',
      EndpointRecovered: 'URL voltou a funcionar',
      DeactivationAnnounced: 'Desligamento anunciado',
      NoticesSet: 'Avisos configurados',
      NoticesRemoved: 'Avisos removidos',
      RecoveryStarted: 'Recuperação iniciada',
      RecoveryEnded: 'Recuperação encerrada',
      IdempotencyKeyUsed: 'Cadastrado de novo',
    },
    details: {
      headers: (names) => `cabeçalhos ${names}`,
      headersAdded: (names) => `cabeçalhos adicionados: ${names}`,
      headersRemoved: (names) => `cabeçalhos removidos: ${names}`,
      opened: (user, rights) => (user ? `para ${user}: ${rights}` : rights),
      byAccount: 'pausado pela conta',
      gone: 'o receptor respondeu 410 Gone',
      nothingSince: (time) => `nada foi aceito desde ${time}`,
      failing: (url, time) => `${url} não aceita nada desde ${time}`,
      announced: (url, time) => `${url} será desligada em ${time}, a menos que aceite uma entrega`,
    },
    paused: 'Webhook pausado',
    service: SERVICE,
    operator: (name) => OPERATOR + name,
    by: (title, actor) => `${title} ${by(actor)}`,
  },
  history: {
    past: 'Webhooks em um momento',
    time: 'Momento',
    exactTime: 'Data e hora',
    now: 'Agora',
    previous: 'Alteração anterior',
    next: 'Próxima alteração',
    backToNow: 'Voltar para agora',
    copy: 'esta lista',
    reachesBack: (count, time) =>
      `O controle abrange as últimas ${count} alterações, desde ${time}; a lista abaixo vai mais longe.`,
    begins: (time) => `O histórico começa em ${time}.`,
    count: (active, off) => {
      const on = `${active} ${many(active, 'ativo', 'ativos')}`;
      return off > 0 ? `${on}, ${off} ${many(off, 'desligado', 'desligados')}.` : `${on}.`;
    },
    same: 'A lista é a mesma agora.',
    since: (added, removed, changed) =>
      `Desde então: ${added} ${many(added, 'adicionado', 'adicionados')}, ${removed} ${many(removed, 'removido', 'removidos')}, ${changed} ${many(changed, 'alterado', 'alterados')}.`,
    marks: { same: '', added: 'Adicionado depois', removed: 'Removido depois', changed: 'Alterado depois' },
    url: (url) => `agora ${url}`,
    active: 'agora ativo',
    paused: 'agora inativo',
    wasOff: 'inativo',
    headers: (names) => `cabeçalhos agora: ${names || 'nenhum'}`,
    headerValues: 'valores de cabeçalhos alterados',
    nothingThen: {
      title: 'Nenhum webhook nesse momento',
      text: 'A conta ainda não tinha cadastrado nenhum ou havia removido todos. Mova o controle para outro momento.',
    },
    noChanges: { title: 'Nenhuma alteração aqui', text: 'O histórico da conta começa depois desta página.' },
    changes: 'Alterações',
    when: 'Quando',
    who: 'Quem',
    what: 'O quê',
    change: 'esta alteração',
  },
  recover: {
    perSecond: (rate) => `${rate} por segundo`,
    preview: {
      sends: (count, shown) => `Envia ${shown} ${many(count, 'entrega', 'entregas')}`,
      span: (oldest, newest) => `Publicadas entre ${oldest} e ${newest}.`,
    },
    states: { running: 'Enviando', sent: 'Todas enviadas', done: 'Concluída', stopped: 'Parada' },
    sent: 'Enviadas',
    of: (sent, count) => `${sent} de ${count}`,
    result: (sent, delivered, failed) =>
      [
        manyShown(sent, 'enviada', 'enviadas'),
        manyShown(delivered, 'entregue', 'entregues'),
        manyShown(failed, 'falhou de novo', 'falharam de novo'),
      ].join(', '),
    running: 'Recuperações',
    open: 'Ver progresso',
  },
};
