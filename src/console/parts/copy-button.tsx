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
  const copy = async () => {
    try {
      // A page that came without TLS has no clipboard, nor has a frame without allow="clipboard-write".
      await navigator.clipboard.writeText(value());
      say('done', t.done);
    } catch {
      say('failed', t.refused);
    }
  };
  return isNamed ? (
    <Button onClick={copy}>{t.copy(what)}</Button>
  ) : (
    <IconButton icon="copy" name={t.copy(what)} onClick={copy} />
  );
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
