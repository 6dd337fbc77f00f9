import type { DialogTexts } from './dialogs-en.js';

export const ptBr: DialogTexts = {
  cancelling: {
    title: 'Cancelar esta entrega?',
    explained: '1 entrega termina como cancelada, sem outra tentativa. Ainda será possível reenviá-la.',
    titleAgain: 'Cancelar esta tentativa?',
    explainedAgain: 'A tentativa pedida não é feita. A entrega volta a ser o que era antes.',
    cancelAgain: 'Cancelar tentativa',
    doneAgain: 'A tentativa foi cancelada.',
    keep: 'Continuar esperando',
    cancel: 'Cancelar entrega',
    done: 'A entrega foi cancelada.',
    failed: 'A entrega não pôde ser cancelada.',
  },
  resendingDelivered: {
    title: 'Reenviar esta entrega?',
    explained: 'Ela já foi entregue: o receptor a recebe outra vez, com o mesmo webhook-id.',
  },
  resendingSelected: {
    title: (count) => (count < 2 ? 'Reenviar 1 entrega?' : `Reenviar ${count} entregas?`),
    explained:
      'Cada uma terá mais uma tentativa, com o mesmo webhook-id. Quem já a recebeu pode reconhecê-la por esse id.',
    failing: 'Onde a URL está falhando, a tentativa será feita assim que voltarmos a enviar para ela.',
    sending: (at, count) => `Enviando ${at} de ${count}`,
    done: (count) => (count < 2 ? '1 entrega está a caminho.' : `${count} entregas estão a caminho.`),
    someFailed: (failed, count) =>
      `${failed} de ${count} ${failed < 2 ? 'não pôde ser reenviada' : 'não puderam ser reenviadas'}.`,
  },
  recover: {
    title: 'Recuperar entregas',
    explained: 'Envia de novo o que esta URL não aceitou, do mais antigo ao mais novo, uma vez cada.',
    since: 'Publicadas desde',
    sinceHint: 'Vazio: tudo o que está guardado',
    sinceLastSuccess: 'Desde o último sucesso',
    until: 'Até',
    untilHint: 'Vazio: agora',
    which: 'Quais',
    included: {
      exhausted: { name: 'Não entregues', hint: 'sem outra tentativa prevista' },
      retrying: { name: 'Em espera', hint: 'em vez da próxima tentativa' },
      held: { name: 'Retidas', hint: 'publicadas com a URL desligada' },
    },
    rate: 'Velocidade',
    preview: {
      none: 'Escolha ao menos um tipo.',
      counting: 'Contando…',
      failed: 'Não foi possível contar as entregas.',
      again: 'Tentar de novo',
      nothing: 'Nada a enviar neste período.',
      takes: (rate, time) => `a ${rate} por segundo, cerca de ${time}.`,
    },
    start: (count) => (count > 0 ? `Enviar ${count.toLocaleString('pt-BR')}` : 'Enviar'),
    failed: 'A recuperação não pôde ser alterada.',
    left: (time) => `faltam cerca de ${time}`,
    delivered: 'Entregues',
    failedCount: 'Falharam de novo',
    lastFailed: 'A última tentativa falhou:',
    testFirst: 'Ir à página para testar',
    passedBy: 'Não puderam ser enviadas',
    awaited: 'Ainda sem resposta',
    awaitedExplained: (count, shown) =>
      `${shown} ainda sem resposta: enquanto a URL está falhando, ${count < 2 ? 'espera' : 'esperam'} até voltarmos a enviar para ela.`,
    mayClose: 'O envio continua se você fechar esta janela ou a página.',
    stoppedExplained: 'O que não foi enviado fica como estava. Você pode recuperar o resto depois.',
    doneExplained: 'O que falhou de novo está guardado: corrija o receptor e recupere mais uma vez.',
    stop: 'Parar',
  },
};
