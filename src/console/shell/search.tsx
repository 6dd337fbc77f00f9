import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { deliveryAddress, paymentAddress } from '../state/addresses.js';
import { texts } from '../texts/texts.js';

/** On every screen. Exact ids, which are pasted: of a payment, or what receivers log as webhook-id. */
export function Search() {
  const [text, setText] = useState('');
  const { route } = useLocation();
  const t = texts.value.search;
  const id = text.trim();
  const search = (event: Event) => {
    event.preventDefault();
    if (!id) return;
    route(id.startsWith('msg_') ? deliveryAddress(id) : paymentAddress(id));
    setText('');
  };
  return (
    <search>
      <form class="cluster" onSubmit={search}>
        <input
          type="search"
          value={text}
          placeholder={t.example}
          aria-label={t.example}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit" class="button">
          {t.search}
        </button>
      </form>
    </search>
  );
}
