import { signal } from '@preact/signals';

/** As in the styles: the rail is at the bottom. */
const query = matchMedia('(width < 760px)');

export const isNarrow = signal(query.matches);

query.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});
