import { useState } from 'preact/hooks';
import type { components } from '../api/openapi.js';
import { Copied } from '../parts/copy-button.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { RelativeTime } from '../parts/relative-time.js';
import { Skeleton } from '../parts/skeleton.js';
import { Untrusted } from '../parts/untrusted.js';
import { useGot } from '../state/polled.js';
import { sessionState } from '../state/session.js';
import { securityTexts } from '../texts/security.js';
import { texts } from '../texts/texts.js';
import { EndSession } from './end-session.js';

type PortalSession = components['schemas']['PortalSession'];

function isMine({ id }: PortalSession): boolean {
  const state = sessionState.value;
  return state.kind === 'open' && state.session.id === id;
}

export function Sessions() {
  const [ending, setEnding] = useState<PortalSession | null>(null);
  const found = useGot('/api/portal-sessions', {});
  const t = securityTexts.value.sessions;
  return (
    <section class="card flush">
      <header class="card-head">
        <div>
          <h2>{t.title}</h2>
          <p class="muted">{t.text}</p>
        </div>
        <Freshness of={found} />
      </header>
      {found.data ? (
        <table class={`rows${staleness(found)}`}>
          <thead>
            <tr>
              <th>{t.user}</th>
              <th>{t.rights}</th>
              <th>{t.opened}</th>
              <th>{t.ends}</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {found.data.sessions.toReversed().map((session) => (
              <SessionRow key={session.id} session={session} onEnd={() => setEnding(session)} />
            ))}
          </tbody>
        </table>
      ) : (
        <Skeleton lines={3} />
      )}
      {ending && (
        <EndSession session={ending} isMine={isMine(ending)} onClose={() => setEnding(null)} onDone={found.look} />
      )}
    </section>
  );
}

function SessionRow({ session, onEnd }: { session: PortalSession; onEnd: () => void }) {
  const { menu } = texts.value;
  const t = securityTexts.value.sessions;
  return (
    <tr>
      <td class="event">
        <b>
          <Untrusted text={session.user ?? t.unnamed} />
        </b>{' '}
        {isMine(session) && <span class="badge good">{t.mine}</span>}
        <Copied value={session.id} what={t.id} />
      </td>
      <td>{session.can.map((right) => menu.rights[right]).join(', ')}</td>
      <td>
        <RelativeTime at={session.openedAt} />
      </td>
      <td>
        <RelativeTime at={session.expiresAt} />
      </td>
      <td class="end">
        <button type="button" class="button danger" onClick={onEnd}>
          {t.end}
        </button>
      </td>
    </tr>
  );
}
