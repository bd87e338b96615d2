/** Ways from a text to code, and to the prototype that all objects share. */
const ways = {
  eval: "eval('1')",
  "eval by another name": "(0, eval)('1')",
  "a function": "Function('return 1')()",
  "a new function": "new Function('return 1')()",
  "the maker of a function": "(() => {}).constructor('return 1')",
  "the maker of a method": "Math.max.constructor('return 1')",
  "the maker of a class": "(class {}).constructor('return 1')",
  "the maker of a bound function": "(() => {}).bind().constructor('return 1')",
  "the maker of a generator": "(function* () {}).constructor('yield 1')",
  "the maker of what is awaited": "(async () => {}).constructor('return 1')",
  "the maker of a generator that is awaited": "(async function* () {}).constructor('yield 1')",
  reflection: "Reflect.construct(Function, ['return 1'])",
  "another kind of it": "Reflect.construct(Function, ['return 1'], Object)",
  "a class below it": "new (class extends Function {})('return 1')",
  "the prototype of an object": "({}).__proto__",
};

const script = Object.entries(ways)
  .map(([name, code]) => `["${name}", () => ${code}]`)
  .join();

/** A module that says, when the process ends that loads it, which ways are open: `ways: `, and their names. */
export const tellingWays = `data:text/javascript,${encodeURIComponent(`
  const isOpen = ([, way]) => { try { way(); return true; } catch { return false; } };
  process.once("exit", () => console.log("ways: " + [${script}].filter(isOpen).map(([name]) => name).join()));
`)}`;
