import type { ComponentChildren } from 'preact';

interface SelectParts<T extends string> {
  /** For screen readers. */
  readonly label: string;
  readonly kind?: string;
  readonly chosen: T;
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly onChoose: (option: T) => void;
}

export function Select<T extends string>({ label, kind, chosen, options, onChoose }: SelectParts<T>) {
  return (
    <select
      class={kind}
      aria-label={label}
      value={chosen}
      onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

interface CheckParts {
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: () => void;
  readonly children: ComponentChildren;
}

export function Check({ isChecked, isDisabled = false, onChange, children }: CheckParts) {
  return (
    <label class="check">
      <input type="checkbox" checked={isChecked} disabled={isDisabled} onChange={onChange} />
      <span>{children}</span>
    </label>
  );
}

interface TimeParts {
  readonly label: string;
  readonly hint?: string;
  /** ISO time; '': none. */
  readonly at: string;
  /** '': none, or a year of more than four digits, which the browser takes and Date does not. */
  readonly onChoose: (at: string) => void;
}

/** A time in the reader's zone, or none. */
export function TimeInput({ label, hint, at, onChoose }: TimeParts) {
  const time = new Date(at);
  const isTime = !Number.isNaN(time.getTime());
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="datetime-local"
        max="9999-12-31T23:59"
        value={isTime ? localText(time) : ''}
        onChange={({ currentTarget }) => {
          const chosen = new Date(currentTarget.value);
          onChoose(Number.isNaN(chosen.getTime()) ? '' : chosen.toISOString());
        }}
      />
      {hint && <small>{hint}</small>}
    </label>
  );
}

const localText = (time: Date) =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
