import { useState } from 'preact/hooks';
import { say } from '../state/toast.js';
import { texts } from '../texts/texts.js';
import { Button, IconButton } from './button.js';
import { Untrusted } from './text.js';

interface Copying {
  readonly value: () => string;
  /** What is copied, for its name. */
  readonly what: string;
  /** With its name beside it. */
  readonly isNamed?: boolean;
}

export function CopyButton({ value, what, isNamed = false }: Copying) {
  const { copying: t } = texts.value;
  /** A text that the browser did not let us copy: shown and selected, so that its user can. */
  const [uncopied, setUncopied] = useState<string | null>(null);
  const copy = async () => {
    try {
      // A page that came without TLS has no clipboard, nor has a frame without allow="clipboard-write".
      await navigator.clipboard.writeText(value());
      say('done', t.done);
    } catch {
      setUncopied(value());
      say('failed', t.refused);
    }
  };
  const name = t.copy(what);
  return (
    <>
      {isNamed ? <Button onClick={copy}>{name}</Button> : <IconButton icon="copy" name={name} onClick={copy} />}
      {uncopied !== null && (
        <textarea
          class="uncopied"
          aria-label={name}
          readOnly
          ref={selectText}
          value={uncopied}
          onBlur={() => setUncopied(null)}
        />
      )}
    </>
  );
}

function selectText(field: HTMLTextAreaElement | null): void {
  field?.focus();
  field?.select();
}

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
