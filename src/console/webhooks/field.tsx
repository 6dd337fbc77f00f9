import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Described {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
}

interface FieldParts {
  readonly label: string;
  readonly hint: string;
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
