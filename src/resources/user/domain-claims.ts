import { handle, type JobHandlers } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { and, asc, eq, gt } from "../../storage/drizzle.ts";
import { instance } from "../instance/index.ts";
import { domainClaimed, organization } from "../org/index.ts";
import { userEvents } from "./events.ts";
import { tellNews } from "./notice.ts";
import { domainOfName, users } from "./projection.ts";
import { user } from "./user.ts";

const batchSize = 100;

/**
 * Tells the users of other organizations whose usernames end in a domain that an organization has proven. Batches follow
 * the index; event and message of a user are in one unit, and his stream says which claim he was told of, so what is done
 * twice tells nobody twice. Once the domain, its organization or the instance is gone there is nothing to tell.
 */
export const domainClaimJobs = ({
  db,
  events,
  newId,
}: Pick<Deps, "db" | "events" | "newId">): JobHandlers => {
  const t = db.table(users);
  return handle(domainClaimed, async (job) => {
    const { instanceId, id: claimId, payload, signal } = job;
    const { organizationId, domain, domainId, after } = payload;
    const suffix = caseFold(domain);
    await db.catchUp();
    const rows = await db.read
      .select({ id: t.id, organizationId: t.organizationId })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.usernameDomain, suffix), gt(t.id, after)))
      .orderBy(asc(t.id))
      .limit(batchSize);
    const last = rows.length < batchSize ? undefined : rows.at(-1)?.id;
    // Nobody of the organizations that he belongs to did it: whose id it was is not theirs to know.
    const by = { editorId: "", service: "domains", clientId: "", requestId: claimId };
    const next = await events.transact({ ...by, instanceId, signal }, async (tx) => {
      const { state } = await tx.load(organization, organizationId);
      const counts = state?.domains.some(({ id, isVerified }) => id === domainId && isVerified);
      const lives = (await tx.load(instance, instanceId)).state !== undefined;
      const isVoid = !counts || !lives;
      for (const row of isVoid ? [] : rows) {
        if (row.organizationId === organizationId) continue;
        const loaded = await tx.load(user, row.id);
        if (loaded.state === undefined || loaded.state.claimId === claimId) continue;
        if (domainOfName(caseFold(loaded.state.username)) !== suffix) continue;
        tx.record(user, loaded, [userEvents["domain.claimed"]({ domain, claimId })]);
        tellNews(tx, newId, { instanceId, userId: row.id }, { news: "domain.claimed" });
      }
      const goesOn = isVoid ? undefined : last;
      await (goesOn === undefined ? job.finish(tx) : job.fence(tx));
      return goesOn;
    });
    return next === undefined ? "done" : { again: { ...payload, after: next } };
  });
};
