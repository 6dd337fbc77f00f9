/** Brazilian Portuguese, of the screen Events. */
import type { EventTexts } from './events-en.js';

export const ptBr: EventTexts = {
  tabs: { published: 'Publicados', types: 'Tipos de evento' },
  sentTo: 'Enviado a',
  show: (eventId) => `Conteúdo de ${eventId}`,
  from: 'De',
  to: 'Até',
  onItsWay: 'a caminho',
  nobody: (type) => `Ninguém: nenhum webhook estava ativo para ${type}.`,
  nobodyRemedy: 'Um webhook cadastrado agora recebe os próximos. Este pode ser lido aqui.',
  seeTypes: 'Ver tipos de evento',
  held: 'Retido: a URL estava desligada. Ative o webhook e recupere.',
  none: {
    title: 'Nada foi publicado ainda',
    text: 'Cada evento de pagamento desta conta aparece aqui em um segundo, com ou sem webhook ativo para ele.',
  },
  schema: 'Esquema de data',
  example: 'Exemplo de data',
  noSchema: 'O provedor não descreve um esquema para os dados deste tipo.',
  name: 'Nome na API',
};
