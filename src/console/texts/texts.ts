/** The texts of the chosen language. */
import { computed } from '@preact/signals';
import { language } from '../state/preferences.js';
import { en } from './en.js';
import { ptBr } from './pt-br.js';

/** English is what the others translate: a key that one lacks does not compile. */
export type Texts = typeof en;

export const texts = computed<Texts>(() => (language.value === 'pt-BR' ? ptBr : en));
