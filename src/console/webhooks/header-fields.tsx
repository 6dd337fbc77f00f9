import { useId } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import { webhookTexts } from '../texts/webhooks.js';

const MOST = 5;

export interface GivenHeader {
  readonly key: string;
  readonly value: string;
}

interface HeaderParts {
  readonly headers: readonly GivenHeader[];
  readonly onChange: (headers: readonly GivenHeader[]) => void;
  readonly messageFor: (field: string) => string | undefined;
}

export function HeaderFields({ headers, onChange, messageFor }: HeaderParts) {
  const t = webhookTexts.value.form;
  const set = (index: number, change: Partial<GivenHeader>) =>
    onChange(headers.map((header, at) => (at === index ? { ...header, ...change } : header)));
  return (
    <fieldset class="stack close">
      <legend>{t.headers}</legend>
      <small class={messageFor('headers') ? 'bad' : undefined}>{messageFor('headers') ?? t.headersHint}</small>
      {headers.map(({ key, value }, index) => (
        <div key={index} class="header-field">
          <Part
            label={t.name(index + 1)}
            value={key}
            error={messageFor(`headers[${index}].key`)}
            onInput={(given) => set(index, { key: given })}
          />
          <Part
            label={t.value(index + 1)}
            value={value}
            error={messageFor(`headers[${index}].value`)}
            hint={key && !value ? t.emptyValue : ''}
            onInput={(given) => set(index, { value: given })}
          />
          <button
            type="button"
            class="button ghost square"
            aria-label={t.removeHeader(index + 1)}
            onClick={() => onChange(headers.filter((_, at) => at !== index))}
          >
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
      {headers.length < MOST && (
        <button type="button" class="button" onClick={() => onChange([...headers, { key: '', value: '' }])}>
          <Icon name="add" size={14} />
          {t.addHeader}
        </button>
      )}
    </fieldset>
  );
}

interface PartParts {
  readonly label: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly hint?: string;
  readonly onInput: (value: string) => void;
}

function Part({ label, value, error, hint = '', onInput }: PartParts) {
  const id = useId();
  return (
    <div class="field">
      <input
        type="text"
        aria-label={label}
        aria-describedby={id}
        aria-invalid={error !== undefined}
        placeholder={label}
        value={value}
        autoComplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <small id={id} class={error ? 'bad' : undefined} role={error ? 'alert' : undefined}>
        {error ?? hint}
      </small>
    </div>
  );
}
