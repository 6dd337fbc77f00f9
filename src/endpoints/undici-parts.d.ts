/**
 * Types for files of undici that are loaded on their own. Hazard: `request` and similar methods exist only if all of
 * undici is loaded too; `dispatch` always exists.
 */
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
