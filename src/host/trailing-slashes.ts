/** The text without the slashes at its end. Not a pattern: `/+$` takes quadratic time for slashes in the middle. */
export function trimTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
