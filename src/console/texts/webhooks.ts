/** The texts of the Webhooks screens: apart from the others, which every screen loads. */
import { computed } from '@preact/signals';
import { shownLanguage } from './texts.js';
import { en } from './webhooks-en.js';
import { ptBr } from './webhooks-pt-br.js';

export const webhookTexts = computed(() => (shownLanguage.value === 'pt-BR' ? ptBr : en));
