// Loaded before a spec, into its process: lets no text become code and loads the sources as the service does, has passwords hashed
// and keys made at little cost, and has the test runner find out more cheaply in which test something happens.
//
// The runner follows every promise and timer from its making to its end (`async_hooks`), to know which test an error or an
// `it()` belongs to: a twelfth of the processor time of tests. Node keeps the same with an `AsyncLocalStorage` at no such
// price. Where the runner asks for its hook it is given the storage: a test runs inside its own number, and whatever it begins
// is found by that. Should another version of the runner ask in another way, nothing is replaced.
import "../src/hardened.js";
import asyncHooks from "node:async_hooks";
import crypto from "node:crypto";
import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import module from "node:module";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { getEnvironmentData, isMainThread, setEnvironmentData } from "node:worker_threads";
import { begin } from "./cost.js";

const hashesCheaply = "idsvc tests hash cheaply";

if (isMainThread) {
  await import("../src/resolve.js");
  followTests();
  beginSpec();
  takeKeys(process.env["IDSVC_TEST_KEYS"]);
  setEnvironmentData(hashesCheaply, !isCostly(process.argv[1]));
}
if (getEnvironmentData(hashesCheaply)) await hashCheaply();

/** Whether the first line of a spec, or of a file that loads several, asks for hashes as the service makes them. */
function isCostly(path) {
  const [line] = readFileSync(path, "utf8").split("\n", 1);
  return /^\/\/ Run: .*\bcostly\b/.test(line);
}

/**
 * To hash passwords was a tenth of the processor time of all tests. It is in this thread and in those that hash that it costs less: what
 * the spec starts as processes of their own hashes as ever. The sources stay as they are, as what differs from them is compiled anew
 * by each thread, for as long as a hash takes.
 */
async function hashCheaply() {
  const { argon2Policy } = await import("../src/crypto/password-policy.ts");
  const { memoryCost, timeCost } = argon2Policy;
  if (memoryCost !== 19_456 || timeCost !== 2)
    throw new Error("a hash costs something else than is known");
  Object.assign(argon2Policy, { memoryCost: 8, timeCost: 1 });
}

/**
 * Each start of a service makes an RSA key, which takes longer than all else of it. The processes of a run share theirs, in a folder: the
 * first key of each is the same one, and so on, and no two keys of a process are.
 */
function takeKeys(folder) {
  if (folder === undefined) return;
  const { createPrivateKey, createPublicKey, generateKeyPair } = crypto;
  /** @type {(type: string, options: object) => Promise<{ privateKey: crypto.KeyObject }>} */
  const make = promisify(generateKeyPair);
  let taken = 0;
  const take = async (type, options) => {
    if (type !== "rsa" || JSON.stringify(options) !== '{"modulusLength":2048}')
      return make(type, options);
    const path = join(folder, String(taken++));
    if (!existsSync(path)) {
      const { privateKey } = await make(type, options);
      // Whoever finds it finds all of it.
      const draft = `${path}.${process.pid}`;
      writeFileSync(draft, privateKey.export({ type: "pkcs8", format: "der" }));
      renameSync(draft, path);
    }
    const privateKey = createPrivateKey({ key: readFileSync(path), type: "pkcs8", format: "der" });
    return { publicKey: createPublicKey(privateKey), privateKey };
  };
  const asked = (...all) => generateKeyPair(...all);
  crypto.generateKeyPair = Object.assign(asked, { [promisify.custom]: take });
  module.syncBuiltinESMExports();
}

/** A file that loads several specs says itself which one begins. */
function beginSpec() {
  const path = realpathSync(process.argv[1]);
  if (path.endsWith(".spec.ts")) begin(relative(join(import.meta.dirname, ".."), path));
}

function followTests() {
  const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = asyncHooks;
  const { runInAsyncScope } = AsyncResource.prototype;
  const scope = new AsyncLocalStorage();
  /** @type {((id: number, type: string, trigger: number, resource: object) => void) | undefined} */
  let belongs;

  asyncHooks.createHook = (callbacks) => {
    const asker = new Error("who asks").stack?.split("\n")[2];
    if (!asker?.includes("node:internal/test_runner/")) return createHook(callbacks);
    belongs = callbacks.init;
    return { enable: () => undefined, disable: () => undefined };
  };
  asyncHooks.executionAsyncId = () => scope.getStore() ?? executionAsyncId();

  // Tests, suites and hooks are resources that run their functions so.
  AsyncResource.prototype.runInAsyncScope = function (work, self, ...args) {
    if (belongs === undefined || typeof this.createSubtest !== "function") {
      return runInAsyncScope.call(this, work, self, ...args);
    }
    const id = this.asyncId();
    belongs(id, "", this.triggerAsyncId(), this);
    const inside = (...given) => scope.run(id, () => Reflect.apply(work, self, given));
    return runInAsyncScope.call(this, inside, undefined, ...args);
  };
}
