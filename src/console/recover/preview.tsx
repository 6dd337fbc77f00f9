import type { RecoveryPreview } from '../api/shapes.js';
import { duration, whole } from '../format/numbers.js';
import { minute } from '../format/times.js';
import { dialogTexts } from '../texts/dialogs.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import type { PreviewState } from './use-preview.js';

interface PreviewParts {
  readonly state: PreviewState;
  readonly perSecond: number;
  /** Nothing is included. */
  readonly isNone: boolean;
}

/** The count before the button: how many, how long, of which time. */
export function Preview({ state, perSecond, isNone }: PreviewParts) {
  const t = dialogTexts.value.recover.preview;
  return (
    <output class="callout preview">
      {isNone ? (
        t.none
      ) : state.kind === 'counting' ? (
        t.counting
      ) : state.kind === 'failed' ? (
        <>
          <span class="bad">
            {t.failed} {whyOf(state.failure, '')}
          </span>
          <button type="button" class="button" onClick={state.again}>
            {t.again}
          </button>
        </>
      ) : state.preview.count === 0 ? (
        t.nothing
      ) : (
        <Counted preview={state.preview} perSecond={perSecond} />
      )}
    </output>
  );
}

function Counted({ preview, perSecond }: { preview: RecoveryPreview; perSecond: number }) {
  const { sends, span } = texts.value.recover.preview;
  const { takes } = dialogTexts.value.recover.preview;
  const { count, oldest, newest } = preview;
  return (
    <>
      <b>{sends(count, whole(count))}</b> {takes(perSecond, duration(Math.max(1, count / perSecond) * 1_000))}
      {oldest && newest && <small>{span(minute(new Date(oldest)), minute(new Date(newest)))}</small>}
    </>
  );
}
