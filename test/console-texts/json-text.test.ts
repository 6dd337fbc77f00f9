import { indentJson } from '../../src/console/format/json-text.js';

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);

describe('indentJson', () => {
  it('indents objects and lists', () => {
    expect(indentJson('{"a":["b"]}')).toBe('{\n  "a": [\n    "b"\n  ]\n}');
  });

  it('indents text whose strings contain many brackets', () => {
    const text = JSON.stringify({ a: `\\"${'['.repeat(100)}` });
    expect(indentJson(text)).toBe(`{\n  "a": ${JSON.stringify(`\\"${'['.repeat(100)}`)}\n}`);
  });

  it.each([
    ['other text', 'a [ b'],
    ['JSON that is nested more than 64 levels deep', nested(65)],
    ['many deep lists, which indented would be hundreds of megabytes', `[${Array(60).fill(nested(2_000)).join(',')}]`],
  ])('returns %s unchanged', (_, text) => {
    expect(indentJson(text)).toBe(text);
  });
});
