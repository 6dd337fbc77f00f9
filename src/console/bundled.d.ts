/** Bundled by esbuild. */
declare module '*.css';

/** Of browsers of 2025 and later; TypeScript does not know them yet. */
interface JSON {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown): unknown;
  rawJSON(source: string): unknown;
}
