import assert from "node:assert/strict";
import type { ServiceDeps } from "../../src/app/deps.ts";
import type { Module } from "../../src/projection/module.ts";

/** A slice that serves nothing, and tells what slices are handed: for functions that no call reaches. */
export function depsTold(): { module: Module<ServiceDeps>; deps: () => ServiceDeps } {
  let told: ServiceDeps | undefined;
  return {
    module: {
      events: [],
      projections: [],
      services: (deps) => {
        told = deps;
        return [];
      },
    },
    deps() {
      assert.ok(told !== undefined, "the service has not started");
      return told;
    },
  };
}
