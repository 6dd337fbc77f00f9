/** One short message at the bottom, said to screen readers too. */
import { signal } from '@preact/signals';

export interface Toast {
  readonly kind: 'done' | 'failed';
  readonly text: string;
}

const SHOWN_MS = 6_000;

export const toast = signal<Toast | null>(null);
let timer = 0;

export function say(kind: Toast['kind'], text: string): void {
  toast.value = { kind, text };
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    toast.value = null;
  }, SHOWN_MS);
}
