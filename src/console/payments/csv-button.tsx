import { useState } from 'preact/hooks';
import { get } from '../api/client.js';
import type { Payment } from '../api/shapes.js';
import { Button } from '../parts/button.js';
import { language } from '../state/preferences.js';
import { may } from '../state/session.js';
import { say } from '../state/toast.js';
import { useWebhooks } from '../state/webhooks.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { csvOf } from './csv.js';
import { askedOf, type Filters, isShown } from './filters.js';

const PAGE = 200;
const MOST_ROWS = 50_000;

/** All that the filters show, read page by page, with the count so far. */
export function CsvButton({ filters }: { filters: Filters }) {
  const [count, setCount] = useState<number | null>(null);
  const webhooks = useWebhooks().data?.webhooks ?? [];
  const t = texts.value.csv;
  const load = async () => {
    setCount(0);
    const payments = await allOf(filters, setCount);
    setCount(null);
    if (!payments) return;
    const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
    const separator = language.value === 'pt-BR' ? ';' : ',';
    save(csvOf(payments, { texts: texts.value, separator, hasPayloads: may('payloads'), urls }));
    say('done', payments.length >= MOST_ROWS ? t.cut(MOST_ROWS) : t.done(payments.length));
  };
  return (
    <Button isDisabled={count !== null} onClick={load}>
      {count === null ? 'CSV' : t.progress(count)}
    </Button>
  );
}

/** Null: it failed, which is said. */
async function allOf({ before: _, ...filters }: Filters, onCount: (count: number) => void): Promise<Payment[] | null> {
  const payments: Payment[] = [];
  let before: string | undefined;
  const from = Date.now();
  while (payments.length < MOST_ROWS) {
    const query = { ...askedOf(filters, from, PAGE), before };
    const result = await get('/api/events', { params: { query } });
    if (result.kind === 'failed' && result.status === 429) {
      await pause(result.retryAfterMs || 1_000);
      continue;
    }
    if (result.kind !== 'ok') {
      say('failed', result.kind === 'failed' ? whyOf(result, texts.value.failed) : texts.value.failed);
      return null;
    }
    payments.push(...result.data.events.filter((payment) => isShown(filters, payment)));
    onCount(payments.length);
    if (!result.data.next) break;
    before = result.data.next;
  }
  return payments.slice(0, MOST_ROWS);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function save(csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = Object.assign(document.createElement('a'), {
    href: url,
    download: `payments-${new Date().toISOString().slice(0, 16).replaceAll(':', '')}.csv`,
  });
  link.click();
  // A browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
