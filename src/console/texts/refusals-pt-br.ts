/** Refusals of the API, in Brazilian Portuguese, by code. */
import type { RefusalTexts } from './refusals-en.js';

const hostInvalid = () => 'O host não é um nome de domínio válido.';
const notFound = () => 'Isto não existe mais.';
const tooManyRequests = () => 'A conta faz requisições demais. Tente de novo em instantes.';
const unavailable = () => 'O serviço está indisponível no momento. Tente de novo em instantes.';

export const refusals: RefusalTexts = {
  'url-not-https': () => 'A URL precisa começar com https:// e um host.',
  'url-characters': () => 'A URL contém espaços, caracteres de controle ou barras invertidas.',
  'url-too-long': ({ limit }) => `A URL pode ter no máximo ${limit} caracteres.`,
  'url-fragment': () => 'A URL não pode ter fragmento (#).',
  'url-user': () => 'A URL não pode conter usuário nem senha. Use um cabeçalho.',
  'url-invalid': () => 'Esta não é uma URL válida.',
  'port-refused': ({ port }) => `A porta ${port} não é permitida.`,
  'host-address': () => 'O host precisa ser um nome público, não um endereço IP.',
  'host-denied': () => 'O host precisa ser um nome público, não um endereço IP.',
  'host-reserved': ({ suffix }) => `O host precisa ser público: “${suffix}” é um nome reservado.`,
  'host-incomplete': () => 'O host precisa ser um nome de domínio completo.',
  'host-characters': hostInvalid,
  'host-labels': hostInvalid,
  'host-trailing-dot': hostInvalid,
  'host-too-long': hostInvalid,
  'header-name': () => 'Este não é um nome de cabeçalho HTTP.',
  'header-blocked': () => 'Este cabeçalho é definido pelo serviço.',
  'header-repeated': () => 'Este cabeçalho está repetido.',
  'too-long': ({ limit }) => `No máximo ${limit} caracteres.`,
  'header-value': () => 'Somente caracteres ASCII visíveis, com espaços ou tabulações entre eles.',
  'url-taken': () => 'Outro webhook deste tipo já tem esta URL.',
  'limit-reached': ({ limit }) =>
    `${limit} URLs deste tipo estão ativas, que é o limite. Pause ou remova uma delas antes.`,
  'account-full': ({ limit }) => `A conta tem ${limit} webhooks, que é o limite. Remova um deles antes.`,
  'account-too-large': () => 'Os webhooks da conta ficariam grandes demais. Reduza cabeçalhos ou remova um webhook.',
  'webhook-inactive': () => 'O webhook está desligado ou foi removido. Ative-o antes.',
  'recovery-running': () => 'Uma recuperação deste webhook está em andamento. Espere o fim ou pare-a.',
  'not-later-than': () => 'O fim do período precisa ser posterior ao início.',
  'payload-gone': () => 'O conteúdo desta entrega não está mais guardado, então ela não pode ser reenviada.',
  'sent-too-often': () => 'A entrega já foi reenviada tantas vezes quanto é permitido.',
  'webhook-not-found': notFound,
  'delivery-not-found': notFound,
  'recovery-not-found': notFound,
  'session-not-found': notFound,
  'test-running': () => 'Outro teste está em andamento. Tente de novo quando terminar.',
  'test-interrupted': () => 'O serviço interrompeu o teste. Tente de novo.',
  'too-many-secrets': () => 'O máximo de segredos já assina. Espere até que o primeiro expire.',
  'too-many-requests': tooManyRequests,
  'too-many-waiting': tooManyRequests,
  'reads-too-costly': tooManyRequests,
  'too-many-unread': tooManyRequests,
  'over-budget': () => 'A conta faz alterações demais. Tente de novo mais tarde.',
  'too-much-sent-again': () => 'Muita coisa foi reenviada ou cancelada. Tente de novo mais tarde.',
  unavailable: unavailable,
  'deliveries-unreadable': unavailable,
  'right-missing': () => 'Falta a esta sessão o direito para isso.',
};
