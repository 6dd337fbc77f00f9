/** The time, for what counts down: it moves once a second, while the page is visible. */
import { signal } from '@preact/signals';

export const now = signal(Date.now());

export const isAhead = (at: string) => Date.parse(at) > now.value;

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1_000);
