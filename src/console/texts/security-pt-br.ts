import type { SecurityTexts } from './security-en.js';

export const ptBr: SecurityTexts = {
  noRight: 'O portal do seu provedor decide os direitos de cada sessão. Peça uma com o direito “secrets”.',
  secrets: {
    title: 'Segredos de assinatura',
    text: 'Cada entrega é assinada com eles, para que o receptor saiba que é autêntica. Segredos nunca são mostrados de novo.',
    issued: 'Emitido',
    signs: 'Assina',
    current: 'até a próxima troca',
    until: 'até',
    rotate: 'Trocar…',
  },
  rotating: {
    title: 'Trocar o segredo de assinatura?',
    explained:
      'Um novo segredo é emitido e mostrado uma vez. Por 24 horas as entregas são assinadas com o novo e o anterior: passe o novo aos receptores nesse prazo.',
    rotate: 'Emitir novo segredo',
    failed: 'Nenhum segredo foi emitido.',
    shownOnce: 'Seu novo segredo de assinatura',
    keep: (time) => `Copie agora: ele não será mostrado de novo. O segredo anterior assina até ${time}.`,
    secret: 'segredo',
    done: 'Já o guardei',
  },
  sessions: {
    title: 'Sessões abertas',
    text: 'Pessoas que usam este console ou têm um link para ele.',
    user: 'Usuário',
    rights: 'Direitos',
    opened: 'Aberta',
    ends: 'Termina',
    mine: 'esta sessão',
    unnamed: 'sem nome',
    id: 'id da sessão',
    end: 'Encerrar…',
  },
  ending: {
    title: (user) => (user === null ? 'Encerrar esta sessão?' : `Encerrar a sessão de ${user}?`),
    mine: 'Encerrar a sua própria sessão?',
    explained: 'Ela não pode fazer mais nada a partir de agora, nem as sessões abertas nela.',
    mineExplained: 'Você vai sair do console. Abra-o de novo pelo portal do seu provedor.',
    end: 'Encerrar sessão',
    done: 'A sessão foi encerrada.',
    failed: 'A sessão não pôde ser encerrada.',
  },
  credentials: {
    title: 'Credenciais',
    text: 'Com elas os sistemas obtêm tokens desta conta. O seu provedor as emite e revoga.',
    id: 'client id',
  },
  certificate: {
    title: 'Certificado de cliente',
    text: 'As entregas o mostram a receptores que exigem um (TLS mútuo). Confie no emissor: o certificado é trocado antes de vencer.',
    none: 'As entregas não mostram certificado de cliente. Os receptores nos reconhecem pela assinatura.',
    subject: 'Titular',
    issuer: 'Emissor',
    valid: 'Validade',
  },
};
