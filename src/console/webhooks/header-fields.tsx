import { useId, useState } from 'preact/hooks';
import { Button, IconButton } from '../parts/button.js';
import { texts } from '../texts/texts.js';

const MOST = 5;

export interface GivenHeader {
  readonly key: string;
  readonly value: string;
}

export const headersOf = (headers: Readonly<Record<string, string>> = {}): GivenHeader[] =>
  Object.entries(headers).map(([key, value]) => ({ key, value }));

interface HeaderParts {
  readonly headers: readonly GivenHeader[];
  readonly onChange: (headers: GivenHeader[]) => void;
  readonly messageFor: (field: string) => string | undefined;
}

/** Their values are secrets: they are hidden until somebody asks for them. */
export function HeaderFields({ headers, onChange, messageFor }: HeaderParts) {
  const [isShown, show] = useState(false);
  const t = texts.value.webhooks.form;
  const set = (index: number, change: Partial<GivenHeader>) =>
    onChange(headers.map((header, at) => (at === index ? { ...header, ...change } : header)));
  return (
    <fieldset class="stack">
      <legend>{t.headers}</legend>
      <small class={messageFor('headers') ? 'bad' : undefined}>{messageFor('headers') ?? t.headersHint}</small>
      {headers.map(({ key, value }, index) => (
        <div key={index} class="header-field">
          <TextField
            isSmall
            label={t.name(index + 1)}
            value={key}
            error={messageFor(`headers[${index}].key`)}
            onInput={(given) => set(index, { key: given })}
          />
          <TextField
            isSmall
            isHidden={!isShown}
            label={t.value(index + 1)}
            value={value}
            error={messageFor(`headers[${index}].value`)}
            hint={key && !value ? t.emptyValue : ''}
            onInput={(given) => set(index, { value: given })}
          />
          <IconButton
            icon="close"
            name={t.removeHeader(index + 1)}
            onClick={() => onChange(headers.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <div class="cluster">
        {headers.length < MOST && (
          <Button onClick={() => onChange([...headers, { key: '', value: '' }])}>{t.addHeader}</Button>
        )}
        {headers.some(({ value }) => value) && (
          <button type="button" class="button" aria-pressed={isShown} onClick={() => show(!isShown)}>
            {t.showValues}
          </button>
        )}
      </div>
    </fieldset>
  );
}

interface FieldParts {
  readonly label: string;
  /** The label is for screen readers alone. */
  readonly isSmall?: boolean;
  readonly isHidden?: boolean;
  /** Default: the label. */
  readonly placeholder?: string;
  readonly value: string;
  /** In place of the hint, and read with the field by screen readers as it is. */
  readonly error: string | undefined;
  readonly hint?: string;
  readonly onInput: (value: string) => void;
}

export function TextField({ label, isSmall, isHidden, placeholder = label, error, hint, onInput, value }: FieldParts) {
  const [id, hintId] = [useId(), useId()];
  return (
    <div class="field">
      <label for={id} class={isSmall ? 'unseen' : undefined}>
        {label}
      </label>
      <input
        {...(isHidden ? ({ type: 'password' } as const) : ({ type: 'text' } as const))}
        id={id}
        value={value}
        placeholder={placeholder}
        aria-describedby={hintId}
        aria-invalid={Boolean(error)}
        autoComplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <small id={hintId} class={error ? 'bad' : undefined} role={error ? 'alert' : undefined}>
        {error ?? hint}
      </small>
    </div>
  );
}
