/** Sentences that are true and well formed for few, for none, and for what the page does not know. */
import { isWanted } from '../../src/console/history/kinds.js';
import { en } from '../../src/console/texts/en.js';
import { ptBr } from '../../src/console/texts/pt-br.js';

it.each([
  ['1 URL takes its deliveries', en.problems.well(1)],
  ['2 URLs take their deliveries', en.problems.well(2)],
  ['1 new: show it', en.payments.fresh(1)],
  ['12 novos: mostrar', ptBr.payments.fresh(12)],
  ['1 de 5 não pôde ser reenviada.', ptBr.dialogs.resendingSelected.someFailed(1, 5)],
  ['2 de 5 não puderam ser reenviadas.', ptBr.dialogs.resendingSelected.someFailed(2, 5)],
  ['Expired: R3, on Nov 2, 2026.', en.expiredCertificate('R3', 'Nov 2, 2026')],
  ['Expired: a certificate without a name.', en.expiredCertificate(null, null)],
  ['Vencido: R3, em 2 de nov. de 2026.', ptBr.expiredCertificate('R3', '2 de nov. de 2026')],
  [
    '1 delivery waits for the next attempt, not counting new ones not yet attempted or deferred',
    en.problems.waiting(1),
  ],
  [
    '2 entregas esperam a próxima tentativa, sem contar as novas ainda não tentadas nem adiadas',
    ptBr.problems.waiting(2),
  ],
  [
    '2 deliveries wait for another attempt and will end unsent, as will new ones not yet attempted or deferred, which are not counted.',
    en.webhooks.unsentCount(2),
  ],
  [
    '1 entrega espera outra tentativa e termina sem ser enviada, como as novas ainda não tentadas nem adiadas, que não são contadas.',
    ptBr.webhooks.unsentCount(1),
  ],
  ['not counting new ones not yet attempted or deferred', en.figures.newNotCounted],
  ['sem contar as novas ainda não tentadas nem adiadas', ptBr.figures.newNotCounted],
  ['reenviada por joana', ptBr.delivery.triggers.resend('joana')],
])('reads “%s”', (expected, said) => {
  expect(said).toBe(expected);
});

it('calls in Portuguese nothing “esgotado” but a time, as what is sold out is', () => {
  const { errors, ...shown } = ptBr;
  expect(errors.timeout).toBe('Tempo esgotado');
  expect(JSON.stringify(shown)).not.toMatch(/esgotad/i);
});

const change = (type: string, actor = 'maria') => ({
  at: null,
  type,
  actor,
  webhookId: null,
  details: {},
  changes: '',
});

it.each([
  ['WebhookAdded', '', true],
  ['PortalSessionOpened', '', false],
  ['PortalSessionOpened', 'sessions', true],
  ['WebhookAdded', 'sessions', false],
  ['AccountRenamed', 'constructor', true],
])('a change of the type %s is among those of the kind "%s": %s', (type, kind, expected) => {
  expect(isWanted(change(type), { kind, who: '' })).toBe(expected);
});

it('leaves out the changes of other persons', () => {
  expect(isWanted(change('WebhookAdded', 'joao'), { kind: '', who: 'maria' })).toBe(false);
});
