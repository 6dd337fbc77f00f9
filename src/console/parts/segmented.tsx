interface Segments<T extends string> {
  readonly label: string;
  readonly chosen: T;
  readonly options: readonly (readonly [T, string])[];
  readonly hrefOf: (option: T) => string;
}

/** One of a few, each an address. */
export function Segmented<T extends string>({ label, chosen, options, hrefOf }: Segments<T>) {
  return (
    <nav class="segmented" aria-label={label}>
      {options.map(([option, name]) => (
        <a key={option} href={hrefOf(option)} aria-current={option === chosen ? 'true' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
