/** Of a file in the package's root, by its path there. It stands beside main.ts, as its code stands beside dist/main.js. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}
