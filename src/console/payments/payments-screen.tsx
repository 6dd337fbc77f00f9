import { useLocation } from 'preact-iso/router';
import { Button } from '../parts/button.js';
import { Notice } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { DataTable, Pager, useSelection } from '../parts/table.js';
import { isolated } from '../parts/text.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { CsvButton } from './csv-button.js';
import { FilterBar } from './filter-bar.js';
import { type Filters, filtersOf, isFiltered, paymentsAddress } from './filters.js';
import { paymentColumns } from './payment-columns.js';
import { ResendSelected } from './resend-selected.js';
import { usePayments } from './use-payments.js';

export function PaymentsScreen() {
  const { query, url } = useLocation();
  const filters = filtersOf(query);
  const { page, rows, fresh, showFresh } = usePayments(url, filters);
  const { chosen, choose } = useSelection(url, rows?.map(({ cursor }) => cursor) ?? []);
  const t = texts.value;
  const nameOf = (cursor: string) => isolated(rows?.find((row) => row.cursor === cursor)?.eventId ?? '');
  const isEnd = !page.data?.next && !filters.before;
  return (
    <>
      <ScreenHead title={t.screens.payments} of={page}>
        <CsvButton filters={filters} />
      </ScreenHead>
      <FilterBar filters={filters} />
      {fresh > 0 && !filters.before && (
        <p>
          <Button onClick={showFresh}>{t.payments.fresh(fresh)}</Button>
        </p>
      )}
      <DataTable
        of={page}
        rows={rows}
        columns={paymentColumns(query)}
        keyOf={({ cursor }) => cursor}
        empty={
          isEnd ? <NoPayments filters={filters} /> : <PageEnd filters={filters} next={page.data?.next} shown={0} />
        }
        selection={may('resend') ? { chosen, choose, nameOf } : null}
      >
        <PageEnd filters={filters} next={page.data?.next} shown={rows?.length ?? 0} />
      </DataTable>
      <ResendSelected
        key={url}
        payments={rows?.filter(({ cursor }) => chosen.has(cursor)) ?? []}
        onClear={() => choose([])}
      />
    </>
  );
}

function PageEnd({ filters, next, shown }: { filters: Filters; next: string | null | undefined; shown: number }) {
  return (
    <Pager
      newest={filters.before ? paymentsAddress(filters) : null}
      older={next ? paymentsAddress(filters, { before: next }) : null}
      shown={shown}
    />
  );
}

function NoPayments({ filters }: { filters: Filters }) {
  const t = texts.value.payments;
  return isFiltered(filters) ? (
    <Notice icon="search" {...t.noMatch} link={[paymentsAddress({}), t.clear]} />
  ) : (
    <Notice icon="payments" {...t.none} />
  );
}
