type Functions = Record<string, (...given: never[]) => Promise<unknown>>;

/**
 * An object whose functions are there before it is: the first call of any loads it. The names are all of its functions,
 * so that none is forgotten.
 */
export function deferred<T extends { [K in keyof T]: (...given: never[]) => Promise<unknown> }>(
  load: () => Promise<T>,
  names: Record<keyof T, true>,
): T {
  const made: Functions = {};
  for (const name of Object.keys(names)) {
    made[name] = async (...given) =>
      (Reflect.get(await load(), name) as Functions[string])(...given);
  }
  // Each function has the types of the one that it stands for.
  return made as unknown as T;
}
