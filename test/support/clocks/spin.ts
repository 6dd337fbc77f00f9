/** Blocks this thread. */
export function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
