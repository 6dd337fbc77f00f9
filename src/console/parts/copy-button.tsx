import { useEffect, useState } from 'preact/hooks';
import { say } from '../state/toast.js';
import { texts } from '../texts/texts.js';
import { Button, IconButton } from './button.js';
import { Untrusted } from './text.js';

const SHOWN_MS = 1_500;

interface Copying {
  readonly value: () => string;
  /** What is copied, for its name. */
  readonly what: string;
  /** With its name beside it. */
  readonly isNamed?: boolean;
}

export function CopyButton({ value, what, isNamed = false }: Copying) {
  const [isCopied, setCopied] = useState(false);
  const t = texts.value;
  useEffect(() => {
    const timer = isCopied ? setTimeout(() => setCopied(false), SHOWN_MS) : undefined;
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      // A page that came without TLS has no clipboard, nor has a frame without allow="clipboard-write".
      await navigator.clipboard.writeText(value());
      setCopied(true);
    } catch {
      say('failed', t.copying.refused);
    }
  };
  const name = isCopied ? t.copying.done : t.copying.copy(inSentence(what));
  const icon = isCopied ? 'check' : 'copy';
  if (!isNamed) return <IconButton icon={icon} name={name} onClick={copy} />;
  return (
    <Button icon={icon} onClick={copy}>
      {name}
    </Button>
  );
}

/** A title in the middle of a sentence: “Payload”, and not “URL”. */
const inSentence = (title: string) => title.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase());

/** An id or URL that can be copied. */
export function Copied({ value, what }: { value: string; what: string }) {
  return (
    <span class="copied">
      <code>
        <Untrusted text={value} />
      </code>
      <CopyButton value={() => value} what={what} />
    </span>
  );
}
