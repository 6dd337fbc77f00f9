/** The time, where one stands: it moves once a minute, while the page is visible. */
import { signal } from '@preact/signals';

export const now = signal(Date.now());

export const isAhead = (at: string) => Date.parse(at) > Math.max(now.value, Date.now());

const move = () => {
  if (document.visibilityState === 'visible') now.value = Date.now();
};
setInterval(move, 60_000);
document.addEventListener('visibilitychange', move);
