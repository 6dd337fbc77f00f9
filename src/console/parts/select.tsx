interface SelectParts<T extends string> {
  readonly label: string;
  /** The label stands above it. Default: it is for screen readers alone. */
  readonly isLabelled?: boolean;
  readonly kind?: string;
  readonly chosen: T;
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly onChoose: (option: T) => void;
}

export function Select<T extends string>({ label, isLabelled, kind, chosen, options, onChoose }: SelectParts<T>) {
  const select = (
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
  if (!isLabelled) return select;
  return (
    <div class="field">
      <span>{label}</span>
      {select}
    </div>
  );
}
