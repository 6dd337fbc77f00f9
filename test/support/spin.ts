/** Nothing else of this thread runs meanwhile. */
export function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
