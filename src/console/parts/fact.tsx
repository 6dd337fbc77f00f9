import type { ComponentChildren } from 'preact';

/** A name and its value, in a list of them. */
export function Fact({ name, tone, children }: { name: string; tone?: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={tone}>{children}</dd>
    </div>
  );
}
