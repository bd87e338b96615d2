// No text becomes code: `eval` and the constructors of functions throw. It is the first import of whatever begins a process or a
// thread of the service, so nothing has them from before.
//
// V8 has a flag for it (`--disallow-code-generation-from-strings`), and takes no code that was compiled under other flags: Node brings its
// own modules compiled under none, and to compile them again takes a twelfth of a start. `eval` and `Function` are global names, and each
// kind of function has its constructor in its prototype; there is no other way to them, so these are replaced.
const kinds = [() => {}, function* () {}, async () => {}, async function* () {}];
for (const kind of kinds) {
  /** @type {Function} */
  const prototype = Object.getPrototypeOf(kind);
  Object.defineProperty(prototype, "constructor", {
    value: refusing(prototype.constructor.name, prototype),
  });
}
globalThis.Function = Function.prototype.constructor;
Object.assign(globalThis, { eval: refusing("eval") });

/**
 * @param {string} name
 * @param {object} [prototype] what `instanceof` looks for
 */
function refusing(name, prototype) {
  const refuse = function () {
    throw new EvalError("Code generation from strings disallowed for this context");
  };
  return Object.defineProperties(refuse, {
    name: { value: name },
    prototype: { value: prototype },
  });
}
