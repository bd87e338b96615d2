import fc from "fast-check";
import { uniqueName } from "../support/peer.ts";
import { noticesSent } from "../support/notices.ts";
import { requireCleanPrototypes } from "./oracle.ts";
import type { Target } from "./target.ts";
import { type Real, tenantCommands, tenantWorld } from "./tenant-commands.ts";
import { TenantModel } from "./tenant-model.ts";
import { compareAll } from "./tenant-search.ts";

/** Scripts of calls over the objects of tenants: each succeeds, fails and lists as a model in memory says. */
export const tenants: Target = {
  name: "tenants",
  share: 0.25,
  property: (peer) =>
    fc.asyncProperty(
      fc.boolean(),
      fc.commands(tenantCommands, { maxCommands: 60, size: "max" }),
      async (isBare, script) => {
        await noticesSent(peer.app);
        const model = new TenantModel();
        const real: Real = { peer, prefix: `${uniqueName("t")} ` };
        if (!isBare) for (const step of tenantWorld) await step.run(model, real);
        await fc.asyncModelRun(() => ({ model, real }), script);
        await compareAll(model, real);
        requireCleanPrototypes();
      },
    ),
};
