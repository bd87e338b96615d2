import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { loginSettingsReader } from "../../settings/policy/login.ts";
import { rowsWhere } from "../../projection/rows.ts";
import { current } from "../../storage/read-cache.ts";
import { instance } from "../instance/index.ts";
import { requireUnproven } from "./domain-claims.ts";
import { isOfInstance, requireElsewhere } from "./domain-of-instance.ts";
import { addOrganization, generatedDomain } from "./org.ts";
import { type Organization, organization, organizationDomains } from "./organization.ts";
import type { DomainProof } from "./own-domain.ts";

type Wanted = {
  id?: string;
  name: string;
  /** What it wishes for, and which field of the call says so. An import brings back what the service generated. */
  domain?: { name: string; field: string; isRestored?: boolean } | undefined;
};

/**
 * Creates an organization in the caller's unit. It begins with the domain that is wished, or with a generated one where
 * none is, and where domains must be proven first.
 *
 * @throws ALREADY_EXISTS ORGANIZATION_NAME_TAKEN, ORGANIZATION_DOMAIN_TAKEN
 * @throws INVALID_ARGUMENT DOMAIN_OF_INSTANCE
 */
export function organizationCreator({ db, newId }: Pick<Deps, "db" | "newId">) {
  const loginOf = current(db, loginSettingsReader(db));
  const requireFree = requireUnproven(db);

  async function freeDomain(tx: Transaction, instanceId: string, name: string, id: string) {
    const { state } = await tx.load(instance, instanceId);
    const below = state?.primaryDomain ?? "";
    const domain = generatedDomain(name, below);
    const held = { instanceId, domain, isVerified: true };
    const [holder] = await rowsWhere(db, organizationDomains, held);
    if (holder !== undefined) return generatedDomain(name, below, `-${id}`);
    // Who takes it meanwhile, under a name that makes the same domain, lets this one look again.
    tx.expectRows(organizationDomains, held, 0);
    return domain;
  }

  /** What it begins with, and what it has yet to prove. */
  async function domainsOf(tx: Transaction, instanceId: string, id: string, wanted: Wanted) {
    const wished = wanted.domain?.name.toLowerCase();
    const generated = async (yetToProve?: string) => {
      const domain = await freeDomain(tx, instanceId, wanted.name, id);
      return { domain, proof: "generated" as DomainProof, yetToProve };
    };
    if (wanted.domain === undefined || wished === undefined) return generated();
    if (wanted.domain.isRestored === true && (await isOfInstance(tx, instanceId, wished))) {
      return { domain: wished, proof: "generated" as DomainProof };
    }
    await requireElsewhere(tx, instanceId, wished, wanted.domain.field);
    if ((await loginOf(instanceId)).validateOrgDomains) return generated(wished);
    await requireFree(tx, instanceId, wished);
    return { domain: wished, proof: "none" as DomainProof };
  }

  return async (
    tx: Transaction,
    instanceId: string,
    wanted: Wanted,
  ): Promise<Loaded<Organization | undefined>> => {
    const loaded = tx.begin(organization, wanted.id ?? newId());
    const found = await domainsOf(tx, instanceId, loaded.id, wanted);
    const { domain, proof, yetToProve } = { yetToProve: undefined, ...found };
    const added = addOrganization(
      loaded.state,
      { name: wanted.name, domain, domainId: newId(), proof },
      yetToProve === undefined ? undefined : { domain: yetToProve, domainId: newId() },
    );
    tx.record(organization, loaded, added, { type: "instance", id: instanceId });
    return loaded;
  };
}
