import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { loginSettingsReader } from "../../settings/login/index.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { current } from "../../storage/read-cache.ts";
import { instance } from "../instance/index.ts";
import { organizationRecorder } from "./domain-claims.ts";
import { addOrganization, generatedDomain, type Organization, organization } from "./org.ts";
import { organizationDomains } from "./projection.ts";

/**
 * Creates an organization in the caller's unit. It begins with the domain that is wished, or with a generated one where
 * none is, and where domains must be proven first.
 *
 * @throws ALREADY_EXISTS ORGANIZATION_NAME_TAKEN, ORGANIZATION_DOMAIN_TAKEN
 */
export function organizationCreator({ db, newId }: Pick<Deps, "db" | "newId">) {
  const t = db.table(organizationDomains);
  const loginOf = current(db, loginSettingsReader(db));
  const recordAll = organizationRecorder({ db, newId });

  async function freeDomain(tx: Transaction, instanceId: string, name: string, id: string) {
    const { state } = await tx.load(instance, instanceId);
    const below = state?.primaryDomain ?? "";
    const domain = generatedDomain(name, below);
    const held = { instanceId, domain, isVerified: true };
    const [holder] = await db.read
      .select({ id: t.organizationId })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.domain, domain), eq(t.isVerified, true)));
    if (holder !== undefined) return generatedDomain(name, below, `-${id}`);
    // Who takes it meanwhile, under a name that makes the same domain, lets this one look again.
    tx.expectRows(organizationDomains, held, 0);
    return domain;
  }

  return async (
    tx: Transaction,
    instanceId: string,
    wanted: { id?: string; name: string; domain?: string | undefined },
  ): Promise<Loaded<Organization | undefined>> => {
    const loaded = tx.begin(organization, wanted.id ?? newId());
    const named = wanted.domain?.toLowerCase();
    const mustProve = named !== undefined && (await loginOf(instanceId)).validateOrgDomains;
    const domain =
      named === undefined || mustProve
        ? await freeDomain(tx, instanceId, wanted.name, loaded.id)
        : named;
    const added = addOrganization(
      loaded.state,
      { name: wanted.name, domain, domainId: newId() },
      mustProve && named !== domain ? { domain: named, domainId: newId() } : undefined,
    );
    await recordAll(tx, instanceId, loaded, added, { type: "instance", id: instanceId });
    return loaded;
  };
}
