import { piecesOf } from '../format/untrusted.js';

/** What strangers write, by itself: it reorders nothing around it, and what it hides is named. Each such value is shown so. */
export function Untrusted({ text, kind }: { text: string; kind?: string }) {
  return (
    <bdi class={kind}>
      {piecesOf(text).map((piece, index) => (piece.isMark ? <mark key={index}>{piece.text}</mark> : piece.text))}
    </bdi>
  );
}
