/** Bundled by esbuild: styles, and receivers as text. */
declare module '*.css';
declare module '*.go' {
  const text: string;
  export default text;
}
declare module '*.mjs' {
  const text: string;
  export default text;
}
declare module '*.php' {
  const text: string;
  export default text;
}
declare module '*.py' {
  const text: string;
  export default text;
}
