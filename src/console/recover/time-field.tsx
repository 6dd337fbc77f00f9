import type { ComponentChildren } from 'preact';

interface TimeFieldParts {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Beneath the hint. */
  readonly children?: ComponentChildren;
}

/** A time, or none. A browser takes years of six digits, which Date does not. */
export function TimeField({ label, hint, value, onChange, children }: TimeFieldParts) {
  return (
    <div class="field">
      <label class="field">
        <span>{label}</span>
        <input
          type="datetime-local"
          max="9999-12-31T23:59"
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
        <small>{hint}</small>
      </label>
      {children}
    </div>
  );
}
