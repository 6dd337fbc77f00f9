import { Icon } from '../icons/icon.js';
import type { Texts } from '../texts/en.js';
import { texts } from '../texts/texts.js';

/** In place of what the session may not see or do. */
export function MissingRight({ right }: { right: keyof Texts['missingRights'] }) {
  return (
    <p class="cluster muted note">
      <Icon name="lock" size={14} />
      {texts.value.missingRights[right]}
    </p>
  );
}
