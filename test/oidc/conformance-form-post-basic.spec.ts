// Run: shared
import { after, before, describe } from "node:test";
import { type Conformance, startConformance } from "./conformance.ts";
import { codeModules } from "./conformance-code-modules.ts";
import { commonModules, userinfoModules } from "./conformance-modules.ts";

let suite: Conformance;

before(async () => {
  suite = await startConformance({ responseType: "code", isFormPost: true });
});
after(() => suite[Symbol.asyncDispose]());

describe("the certification profile Form Post Basic", () => {
  commonModules(() => suite);
  userinfoModules(() => suite);
  codeModules(() => suite);
});
