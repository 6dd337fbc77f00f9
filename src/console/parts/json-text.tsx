import { prettyTokens } from '../format/payload.js';
import { Untrusted } from './untrusted.js';

/** In colour, unless it is no JSON or is asked for raw. */
export function JsonText({ text, isRaw = false }: { text: string; isRaw?: boolean }) {
  const tokens = isRaw ? null : prettyTokens(text);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre class="code" tabIndex={0}>
      {tokens ? (
        tokens.map(({ kind, text }, index) =>
          kind === 'mark' ? text : <Untrusted key={index} kind={kind} text={text} />,
        )
      ) : (
        <Untrusted text={text} />
      )}
    </pre>
  );
}
