import type { Right } from '../api/shapes.js';
import { Icon } from '../icons/icon.js';
import { texts } from '../texts/texts.js';

/** In place of what the session may not see or do. */
export function MissingRight({ right }: { right: Right }) {
  return (
    <p class="cluster muted note">
      <Icon name="lock" size={14} />
      {texts.value.missingRights[right]}
    </p>
  );
}
