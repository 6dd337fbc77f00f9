import type { AskView, DeliveriesView } from '../ports/deliveries-view.js';
import { ApiError } from './api-error.js';

/** What the view answers. Without a view nothing is known: an empty answer would read as the end of a list. @throws ApiError 503 */
export function viewAnswer<T>(view: AskView, question: (view: DeliveriesView) => T): T {
  const answer = view.ask<{ readonly is: T } | null>((sound) => ({ is: question(sound) }), null);
  if (answer) return answer.is;
  const headers = { 'retry-after': '1' };
  throw new ApiError(503, 'the deliveries are not readable now; Retry-After says when to try again', { headers });
}
