// Run: shared
import { after, before, describe } from "node:test";
import { type Conformance, startConformance } from "./conformance.ts";
import { commonModules, implicitModules, userinfoModules } from "./conformance-modules.ts";

for (const responseType of ["id_token", "id_token token"] as const) {
  describe(`the certification profile Form Post Implicit, ${responseType}`, () => {
    let suite: Conformance;

    before(async () => {
      suite = await startConformance({ responseType, isFormPost: true });
    });
    after(() => suite[Symbol.asyncDispose]());

    commonModules(() => suite);
    implicitModules(() => suite);
    if (responseType === "id_token token") userinfoModules(() => suite);
  });
}
