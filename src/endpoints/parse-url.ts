/**
 * Parses a URL; null if the text is none. Hazard: once compiled, after some 5,000 calls, URL.canParse of Node 20
 * rejects URLs with Latin letters like ü: its fast path reads them as UTF-8. (URL.parse came with Node 22.)
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
