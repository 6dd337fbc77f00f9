/** Decides where the account gets its notices. Pure. */
import type { NoticeTarget, SealedHeader, WebhookEvent } from './events.js';
import type { AccountWebhooks } from './state.js';

interface SetNotices extends NoticeTarget {
  readonly type: 'SetNotices';
  /** As in RegisterWebhook. */
  readonly isHeldBy: (kept: readonly SealedHeader[]) => boolean;
  readonly at: string;
}

interface RemoveNotices {
  readonly type: 'RemoveNotices';
  readonly at: string;
}

export type NoticesCommand = SetNotices | RemoveNotices;

export function decideNotices({ notices }: AccountWebhooks, command: NoticesCommand): WebhookEvent[] {
  switch (command.type) {
    case 'SetNotices': {
      const { url, endpoint, headers, isHeldBy, at } = command;
      if (notices?.url === url && isHeldBy(notices.headers)) return [];
      return [{ type: 'NoticesSet', data: { url, endpoint, headers, setAt: at } }];
    }
    case 'RemoveNotices':
      return notices ? [{ type: 'NoticesRemoved', data: { removedAt: command.at } }] : [];
    default:
      return command satisfies never;
  }
}
