/** Brazilian Portuguese, of what was sent beside a payload. */
import type { RequestTexts } from './request-en.js';

export const ptBr: RequestTexts = {
  headers: 'Cabeçalhos enviados',
  asNow: 'Os do webhook estão listados como são agora.',
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
};
