import type { ComponentChildren } from 'preact';
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
            isHidden={!isShown}
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
          <Button icon="add" onClick={() => onChange([...headers, { key: '', value: '' }])}>
            {t.addHeader}
          </Button>
        )}
        {headers.some(({ value }) => value) && (
          <button type="button" class="button ghost" aria-pressed={isShown} onClick={() => show(!isShown)}>
            {t.showValues}
          </button>
        )}
      </div>
    </fieldset>
  );
}

interface PartParts {
  readonly label: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly hint?: string;
  readonly isHidden?: boolean;
  readonly onInput: (value: string) => void;
}

function Part({ label, value, error, hint = '', isHidden = false, onInput }: PartParts) {
  return (
    <Field label={<span class="unseen">{label}</span>} hint={hint} error={error}>
      {(described) => (
        <input
          {...described}
          {...(isHidden ? ({ type: 'password' } as const) : ({ type: 'text' } as const))}
          placeholder={label}
          value={value}
          autoComplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface Described {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
}

interface FieldParts {
  readonly label: ComponentChildren;
  readonly hint: ComponentChildren;
  readonly error: ComponentChildren;
  /** @param described what the control carries, so that a screen reader reads the hint or the error with it */
  readonly children: (described: Described) => ComponentChildren;
}

export function Field({ label, hint, error, children }: FieldParts) {
  const [id, hintId] = [useId(), useId()];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': hintId, 'aria-invalid': Boolean(error) })}
      <small id={hintId} class={error ? 'bad' : undefined} role={error ? 'alert' : undefined}>
        {error ?? hint}
      </small>
    </div>
  );
}
