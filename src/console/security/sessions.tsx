import { remove } from '../api/client.js';
import type { PortalSession } from '../api/shapes.js';
import { ActionButton } from '../parts/action.js';
import { Card } from '../parts/card.js';
import { Copied } from '../parts/copy-button.js';
import { type Column, DataTable } from '../parts/table.js';
import { isolated, Untrusted } from '../parts/text.js';
import { RelativeTime } from '../parts/time.js';
import { useGot } from '../state/polled.js';
import { sessionState } from '../state/session.js';
import { texts } from '../texts/texts.js';

function isMine({ id }: PortalSession): boolean {
  const state = sessionState.value;
  return state.kind === 'open' && state.session.id === id;
}

export function Sessions() {
  const found = useGot('/api/portal-sessions', {});
  const { menu, security } = texts.value;
  const { sessions: t, ending } = security;
  const columns: readonly Column<PortalSession>[] = [
    {
      name: t.user,
      place: 'lead',
      cell: (session) => (
        <>
          <b>
            <Untrusted text={session.user ?? t.unnamed} />
          </b>{' '}
          {isMine(session) && <span class="badge good">{t.mine}</span>}
          <Copied value={session.id} what={t.id} />
        </>
      ),
    },
    { name: t.rights, cell: ({ can }) => can.map((right) => menu.rights[right]).join(', ') },
    { name: t.opened, cell: ({ openedAt }) => <RelativeTime at={openedAt} /> },
    { name: t.ends, cell: ({ expiresAt }) => <RelativeTime at={expiresAt} /> },
    {
      name: '',
      place: 'end',
      // One's own ends by signing out.
      cell: (session) =>
        !isMine(session) && (
          <ActionButton
            kind="danger"
            call={() => remove('/api/portal-sessions/{id}', session.id)}
            question={{ ...ending, title: ending.title(session.user && isolated(session.user)), isDanger: true }}
            onDone={found.look}
          >
            {t.end}
          </ActionButton>
        ),
    },
  ];
  return (
    <Card title={t.title} text={t.text} of={found} isPlain>
      {({ sessions }) => <DataTable of={found} rows={sessions.toReversed()} columns={columns} keyOf={({ id }) => id} />}
    </Card>
  );
}
