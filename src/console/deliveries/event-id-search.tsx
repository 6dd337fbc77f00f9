import { useState } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import { texts } from '../texts/texts.js';

/** Exact ids: an id is pasted, not typed. Its change comes once, with Enter or when the field is left. */
export function EventIdSearch({ given, onSearch }: { given: string; onSearch: (eventId: string) => void }) {
  const [text, setText] = useState(given);
  const t = texts.value.deliveries;
  return (
    <form class="search-field" onSubmit={(event) => event.preventDefault()}>
      <Icon name="search" />
      <input
        type="search"
        value={text}
        placeholder={t.searchHint}
        aria-label={t.searchHint}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onChange={() => text.trim() !== given && onSearch(text.trim())}
      />
    </form>
  );
}
