import module from 'node:module';

/**
 * @param {object} hooks `resolve` and `load`, of Node's module hooks; what `next` answers may be a promise
 * @param {URL} url of their module: Node 20 loads it in a thread of its own. Later versions, which deprecate that, call
 * `hooks` in this one
 */
export function addHooks(hooks, url) {
  if (module.registerHooks) module.registerHooks(hooks);
  else module.register(url);
}
