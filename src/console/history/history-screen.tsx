import { useLocation } from 'preact-iso/router';
import { Notice } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { Pager } from '../parts/table.js';
import { Filter } from '../payments/filter-bar.js';
import { addressOf } from '../state/addresses.js';
import { whoOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { ChangeTable } from './change-table.js';
import { useChanges } from './changes.js';
import { isWanted, KINDS } from './kinds.js';
import { Past } from './past.js';

export function HistoryScreen() {
  const { route, query } = useLocation();
  const { at = '', before, kind = '', who = '' } = query;
  const found = useChanges(before);
  const all = found.data?.changes ?? [];
  const { history: t, screens } = texts.value;
  const set = (change: Readonly<Record<string, string | undefined>>) =>
    addressOf('/history', { at, kind, who, ...change });
  const actors = [...new Set([who, ...all.flatMap(({ actor }) => actor ?? [])])].filter(Boolean);
  const shown = found.data && all.filter((change) => isWanted(change, { kind, who }));
  const pager = (
    <Pager
      newest={before ? set({}) : null}
      older={found.data?.next ? set({ before: found.data.next }) : null}
      shown={shown?.length ?? 0}
    />
  );
  return (
    <>
      <ScreenHead title={screens.history} of={found} />
      <Past at={Number.isNaN(Date.parse(at)) ? null : at} addressAt={(time) => set({ at: time, before })} />
      <h2>{t.changes}</h2>
      <search class="cluster">
        <Filter
          label={t.who}
          chosen={who}
          options={actors.map((actor) => [actor, whoOf(actor)])}
          onChoose={(one) => route(set({ who: one }))}
        />
        <Filter
          label={t.kind}
          chosen={kind}
          options={KINDS.map((one) => [one, t.kinds[one]])}
          onChoose={(one) => route(set({ kind: one }))}
        />
      </search>
      <ChangeTable
        of={found}
        changes={shown ?? undefined}
        at={at}
        filters={{ kind, who, before: before ?? '' }}
        known={all}
        empty={
          <Notice icon="history" {...t.noChanges}>
            {pager}
          </Notice>
        }
      >
        {pager}
      </ChangeTable>
    </>
  );
}
