/** Module hooks for tests, on top of those for TypeScript. */
const TESTS = new URL('../', import.meta.url).href;

export function resolve(specifier, context, next) {
  const numbered = (found) => ({ ...found, url: forItsTestFile(found.url, context.parentURL) });
  const found = next(specifier, context);
  return found instanceof Promise ? found.then(numbered) : numbered(found);
}

/** A module of test/ has the number of the test file that it is for: the next test file loads it again. */
function forItsTestFile(url, parentUrl = '') {
  return url.startsWith(TESTS) && parentUrl.startsWith(TESTS) ? url + new URL(parentUrl).search : url;
}
