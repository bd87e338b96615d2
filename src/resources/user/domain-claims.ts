import { enqueue, handle, jobKind, type JobHandlers } from "../../jobs/job.ts";
import { someIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { caseFold } from "../../storage/case-fold.ts";
import type { Reaction } from "../../eventstore/settle.ts";
import { ownWork, type Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { and, asc, eq, gt } from "../../storage/drizzle.ts";
import { current } from "../../storage/read-cache.ts";
import { instance, primaryDomainReader } from "../instance/index.ts";
import {
  domainIdOf,
  type DomainProof,
  type OwnDomain,
  domainTaker,
  isProof,
  organization,
  unprovenHolders,
  verifiedDomains,
} from "../org/index.ts";
import { userEvents } from "./events.ts";
import { usernameReader } from "./login-name.ts";
import { tellNews } from "./notice.ts";
import { domainOfName, users } from "./projection.ts";
import { type User, user } from "./user.ts";

/** A domain that an organization has proven. */
export type DomainClaim = {
  organizationId: string;
  domain: string;
  domainId: string;
  /** The id of the last user who was looked at. */
  after: string;
};

/**
 * The job that follows the proof of a domain: other organizations that claim it without a proof lose it, and users elsewhere
 * whose usernames end in it get other names and are told. Claims of one domain are worked on one after the other.
 */
export const domainClaimed = jobKind<DomainClaim>("domain.claimed");

/** Enqueues the job in the unit that records the proof, unless the domain is nobody's name. */
export function domainsAreClaimed({ db, newId }: Pick<Deps, "db" | "newId">): Reaction {
  const others = unprovenHolders(db);

  async function claim(tx: Transaction, claimed: DomainClaim): Promise<void> {
    const { instanceId } = tx.at;
    const { domain, organizationId } = claimed;
    const below = { instanceId, usernameDomain: caseFold(domain) };
    const [someone] = await someIds(db, users, below, 1);
    const [holder] = await others(instanceId, domain, organizationId, 1);
    if (someone === undefined && holder === undefined) {
      // Most domains are nobody's name. Whoever comes before the unit commits makes it look again.
      tx.expectRows(users, below, 0);
      return;
    }
    const key = `${instanceId}/${domain}`;
    tx.write(enqueue(domainClaimed, { instanceId, id: newId(), now: tx.now, key }, claimed));
  }

  return {
    to: ["org.domain.verified"],
    async react(tx, happened) {
      for (const { aggregateId: organizationId, payload } of happened) {
        // The payload of the one event it reacts to.
        const verified = payload as OwnDomain & { proof?: DomainProof };
        if (!isProof(verified.proof)) continue;
        const domainId = domainIdOf(verified);
        await claim(tx, { organizationId, domain: verified.domain, domainId, after: "" });
      }
    },
  };
}

const batchSize = 100;
const longestName = 200;

/**
 * Gives the users of other organizations whose usernames end in a domain that an organization has proven other names, below a
 * domain of their own organization, and tells them. Batches follow the index; name, event and message of a user are in one
 * unit, so what is done twice tells nobody twice. Once the domain, its organization or the instance is gone there is nothing
 * to tell.
 */
export const domainClaimJobs = ({
  db,
  events,
  newId,
}: Pick<Deps, "db" | "events" | "newId">): JobHandlers => {
  const t = db.table(users);
  const take = domainTaker({ db, newId });
  const newName = newNames(db);
  return handle(domainClaimed, async (job) => {
    const { instanceId, id: claimId, payload, signal } = job;
    const { organizationId, domain, domainId, after } = payload;
    const suffix = caseFold(domain);
    await db.catchUp();
    // Nobody of the organizations that the user belongs to did it: whose id it was is not theirs to know.
    const at = ownWork({ instanceId, signal, service: "domains", requestId: claimId });
    const holds = async (tx: Transaction) => {
      const { state } = await tx.load(organization, organizationId);
      const counts = state?.domains.some(({ id, isProven }) => id === domainId && isProven);
      return counts === true && (await tx.load(instance, instanceId)).state !== undefined;
    };
    const turn = () =>
      events.transact(at, async (tx) => {
        await job.fence(tx);
        return (await holds(tx)) ? take(tx, instanceId, { domain, organizationId }, batchSize) : 0;
      });
    while (after === "" && (await turn()) === batchSize) await db.catchUp();
    const rows = await db.read
      .select({ id: t.id, organizationId: t.organizationId })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.usernameDomain, suffix), gt(t.id, after)))
      .orderBy(asc(t.id))
      .limit(batchSize);
    const last = rows.length < batchSize ? undefined : rows.at(-1)?.id;
    const next = await events.transact(at, async (tx) => {
      const isVoid = !(await holds(tx));
      for (const row of isVoid ? [] : rows) {
        if (row.organizationId === organizationId) continue;
        const loaded = await tx.load(user, row.id);
        if (loaded.state === undefined || loaded.state.claim?.id === claimId) continue;
        if (domainOfName(caseFold(loaded.state.username)) !== suffix) continue;
        const { organizationId: home } = loaded.state;
        const username = await newName(instanceId, row.id, loaded.state);
        tx.record(user, loaded, [
          userEvents["username.changed"]({ organizationId: home, username }),
          userEvents["domain.claimed"]({ domain, claimId }),
        ]);
        tellNews(tx, newId, { instanceId, userId: row.id }, { news: "domain.claimed" });
      }
      const goesOn = isVoid ? undefined : last;
      await (goesOn === undefined ? job.finish(tx) : job.fence(tx));
      return goesOn;
    });
    return next === undefined ? "done" : { again: { ...payload, after: next } };
  });
};

/** What a user is called whose name ends in a domain that is another organization's: the same below a domain of their own. */
function newNames(db: Database) {
  const domainsOf = current(db, verifiedDomains(db));
  const primaryOf = primaryDomainReader(db);
  const byUsername = usernameReader(db);
  return async (instanceId: string, id: string, { organizationId, username }: User) => {
    const suffix =
      (await domainsOf(instanceId, organizationId))[0] ?? (await primaryOf(instanceId));
    const local = username.slice(0, username.lastIndexOf("@"));
    const below = (part: string, end = "") =>
      `${part.slice(0, Math.max(1, longestName - suffix.length - end.length - 1))}${end}@${suffix}`;
    const wished = below(local);
    const isFree = (await byUsername(instanceId, organizationId, wished)) === undefined;
    return isFree ? wished : below(local, `-${id}`);
  };
}
