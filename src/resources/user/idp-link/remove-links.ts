import { handle, type JobHandlers } from "../../../jobs/job.ts";
import type { Deps } from "../../../projection/module.ts";
import { someIds } from "../../../projection/ids.ts";
import { removeIdpLinks } from "../../idp/index.ts";
import { authenticatorsOf } from "../authenticator/authenticators.ts";
import { userAuthenticators } from "../authenticator/projection.ts";
import { user } from "../user.ts";
import { removeIdpLink } from "./idp-link.ts";

const batchSize = 50;

/**
 * Removes the links to accounts at providers that were deleted, in batches. They count no more from the deletion on, and
 * who links an account makes sure at their commit that its provider is there.
 */
export const idpLinkJobs = ({ db, events }: Pick<Deps, "db" | "events">): JobHandlers =>
  handle(removeIdpLinks, async (job) => {
    const { idpId, by } = job.payload;
    const { instanceId } = job;
    await db.catchUp();
    const links = { instanceId, kind: "idp", id: idpId };
    const userIds = await someIds(db, userAuthenticators, links, batchSize, "userId");
    await events.transact({ ...by, instanceId, signal: job.signal }, async (tx) => {
      for (const userId of userIds) {
        const loaded = await tx.load(user, userId);
        const linked = authenticatorsOf(loaded.state?.authenticators ?? [], "idp");
        if (!linked.some(({ id }) => id === idpId)) continue;
        tx.record(user, loaded, removeIdpLink(loaded.state, idpId, "cascade.removed"));
      }
      if (userIds.length < batchSize) await job.finish(tx);
      else await job.fence(tx);
    });
    return userIds.length < batchSize ? "done" : "again";
  });
