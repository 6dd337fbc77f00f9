import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Icon } from '../icons/icon.js';
import { deliveryAddress } from '../state/addresses.js';
import { texts } from '../texts/texts.js';

/** Exact ids: an id is pasted, not typed. One that receivers log as webhook-id opens its delivery. */
export function EventIdSearch({ given, onSearch }: { given: string; onSearch: (eventId: string) => void }) {
  const [text, setText] = useState(given);
  const input = useRef<HTMLInputElement>(null);
  const { route } = useLocation();
  const t = texts.value.deliveries;
  const id = text.trim();
  // Another address, as by Back, has another id.
  useEffect(() => setText(given), [given]);
  const search = (event: Event) => {
    event.preventDefault();
    // Its button goes once the search is made.
    input.current?.focus();
    if (id.startsWith('msg_')) route(deliveryAddress(id));
    else onSearch(id);
  };
  const edit = (edited: string) => {
    setText(edited);
    if (edited === '' && given) onSearch('');
  };
  return (
    <form class="search-field" onSubmit={search}>
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        value={text}
        placeholder={t.searchExample}
        aria-label={t.searchHint}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => edit(currentTarget.value)}
      />
      {id !== given && (
        <button type="submit" class="button">
          {t.search}
        </button>
      )}
    </form>
  );
}
