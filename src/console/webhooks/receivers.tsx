import { useState } from 'preact/hooks';
import go from '../../../docs/receivers/receiver.go' with { type: 'text' };
import node from '../../../docs/receivers/receiver.mjs' with { type: 'text' };
import php from '../../../docs/receivers/receiver.php' with { type: 'text' };
import python from '../../../docs/receivers/receiver.py' with { type: 'text' };
import { CopyButton } from '../parts/copy-button.js';
import { Select } from '../parts/inputs.js';
import { texts } from '../texts/texts.js';

const RECEIVERS = { 'Node.js': node, Python: python, PHP: php, Go: go } as const;
type Language = keyof typeof RECEIVERS;

/** The files that docs/receivers.md shows, as they were run against recorded deliveries. */
export function Receivers() {
  const t = texts.value.webhooks.receivers;
  const [language, choose] = useState<Language>('Node.js');
  return (
    <section class="card stack close" aria-label={t.receiver}>
      <header class="card-head">
        <h2>{t.receiver}</h2>
        <CopyButton value={() => RECEIVERS[language]} what={language} />
      </header>
      <p class="muted">{t.receiverText}</p>
      <Select
        label={t.language}
        chosen={language}
        options={(Object.keys(RECEIVERS) as Language[]).map((name) => [name, name])}
        onChoose={choose}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus */}
      <pre class="code" tabIndex={0}>
        {RECEIVERS[language]}
      </pre>
    </section>
  );
}
