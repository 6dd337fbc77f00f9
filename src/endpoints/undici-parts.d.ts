/**
 * Files of undici that are loaded on their own, with the types that the whole has for them. Hazard: `request` and its like
 * are on them only where the whole is loaded too; `dispatch` always is.
 */
declare module 'undici/lib/dispatcher/dispatcher.js' {
  export { Dispatcher as default } from 'undici';
}

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
