/**
 * The environment of a thread or process that needs nothing of this one's, which may hold keys: it is told where compiled code is kept,
 * so that it need not compile what it loads, nor load what reads TypeScript.
 */
export function bareEnv(): Record<string, string> {
  const { NODE_COMPILE_CACHE: folder } = process.env;
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
