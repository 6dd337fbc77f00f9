import { whole } from '../format/numbers.js';
import { Confirm } from '../parts/confirm.js';
import { EventName } from '../parts/event-name.js';
import { UrlText } from '../parts/url-text.js';
import type { Webhook } from '../state/webhooks.js';
import { webhookTexts } from '../texts/webhooks.js';

interface QuestionParts {
  readonly of: { readonly title: string; readonly explained: string; readonly confirm: string };
  readonly webhook: Webhook;
  /** Deliveries that end unsent; null: not known. */
  readonly waiting: number | null;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

export function Question({ of, webhook, waiting, onYes, onClose }: QuestionParts) {
  return (
    <Confirm title={of.title} yes={of.confirm} isDanger onYes={onYes} onClose={onClose}>
      <p class="subject">
        <UrlText url={webhook.url} />{' '}
        <small>
          <EventName type={webhook.type} />
        </small>
      </p>
      <p>{of.explained}</p>
      {waiting !== 0 && (
        <p>
          <b>
            {waiting === null ? webhookTexts.value.unsent : webhookTexts.value.unsentCount(waiting, whole(waiting))}
          </b>
        </p>
      )}
    </Confirm>
  );
}
