/** JSON for reading: indented token by token, for parsing it would round amounts and ids of many digits. */
import { Untrusted } from './text.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g;
const MOST_TOKENS = 20_000;

interface Token {
  readonly text: string;
  /** It stands between values, and is nobody's. */
  readonly isMark: boolean;
}

/** Null: it is no JSON, or too long. */
function prettyTokens(json: string): readonly Token[] | null {
  try {
    JSON.parse(json);
  } catch {
    return null;
  }
  const tokens = json.match(TOKEN) ?? [];
  return tokens.length > MOST_TOKENS ? null : indented(tokens);
}

function indented(tokens: readonly string[]): readonly Token[] {
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  return tokens.map((text) => {
    depth += /^[{[]$/.test(text) ? 1 : /^[}\]]$/.test(text) ? -1 : 0;
    if (/^[{[,]$/.test(text)) return { text: text + line(), isMark: true };
    if (/^[}\]]$/.test(text)) return { text: line() + text, isMark: true };
    return { text: text === ':' ? ': ' : text, isMark: /^[:{[]/.test(text) };
  });
}

/** Indented, unless it is no JSON. */
export function JsonText({ text }: { text: string }) {
  const tokens = prettyTokens(text);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre class="code" tabIndex={0}>
      {tokens?.map(({ text, isMark }, index) => (isMark ? text : <Untrusted key={index} text={text} />)) ?? (
        <Untrusted text={text} />
      )}
    </pre>
  );
}
