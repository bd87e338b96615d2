import { ImportedDomainSchema, ImportedOrgSchema } from "#gen/idsvc/management/v1/data_pb.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import {
  addToOrganization,
  deactivateOrganization,
  organization,
  organizationCreator,
  isOfInstance,
  judge,
  requireOrganization,
  requireUnproven,
  setPrimary,
  type Standing,
} from "../../resources/org/index.ts";
import { loginSettingsReader } from "../../settings/policy/login.ts";
import { current } from "../../storage/read-cache.ts";
import { created, existed, kind, type Kind, note } from "./kind.ts";
import { newIdGuard } from "./new-id.ts";

/** Organizations and their domains. */
export function organizationKinds(deps: Deps): Kind[] {
  const create = organizationCreator(deps);
  const requireNewId = newIdGuard(deps);
  const loginOf = current(deps.db, loginSettingsReader(deps.db));
  const requireFree = requireUnproven(deps.db);

  /** What an import says is verified counts, and is no proof: what another organization has proven it takes nothing of. */
  async function standingOf(
    tx: Transaction,
    instanceId: string,
    domain: string,
    isVerified: boolean,
  ): Promise<Standing> {
    if (await isOfInstance(tx, instanceId, domain)) return { proof: "generated" };
    const { validateOrgDomains } = await loginOf(instanceId);
    if (!isVerified && validateOrgDomains) return { validationType: "dns" };
    await requireFree(tx, instanceId, domain);
    return { proof: isVerified ? "import" : "none" };
  }

  return [
    kind("org", {
      type: ImportedOrgSchema,
      idOf: ({ name }) => name,
      refs: (_, id) => [{ type: "organization", id, isNew: true }],
      begin:
        ({ name, domain: wanted, inactive }, importContext) =>
        async (tx) => {
          const { instanceId, orgId } = importContext;
          const loaded = await tx.load(organization, orgId);
          if (loaded.state !== undefined) return existed;
          await requireNewId(tx, importContext, orgId, {
            field: "org_id",
            taken: "ORGANIZATION_ID_TAKEN",
          });
          const made = await create(tx, instanceId, {
            id: orgId,
            name,
            domain: wanted ? { name: wanted, field: "org.domain", isRestored: true } : undefined,
          });
          if (inactive) tx.record(organization, made, deactivateOrganization(made.state, false));
          return created(note("organization", orgId));
        },
    }),
    kind("domains", {
      type: ImportedDomainSchema,
      idOf: ({ domainName }) => domainName,
      refs: (_, id) => [{ type: "organization", id }],
      begin:
        ({ domainName, isVerified, isPrimary }, { instanceId, orgId, known }) =>
        async (tx) => {
          await requireOrganization(tx, orgId);
          const loaded = await tx.load(organization, orgId);
          const domain = domainName.toLowerCase();
          const noteId = `${orgId}/${domain}`;
          const present = loaded.state?.domains.find(({ name }) => name === domain);
          if (present === undefined && (await known.find("domain", noteId)) === undefined) {
            const domainId = deps.newId();
            const standing = await standingOf(tx, instanceId, domain, isVerified);
            const added = addToOrganization(loaded.state, { domain, domainId }, standing);
            tx.record(organization, loaded, added);
            if (isPrimary) tx.record(organization, loaded, setPrimary(loaded.state, domainId));
            return created(note("domain", noteId));
          }
          if (present !== undefined && isVerified && !present.isVerified) {
            await requireFree(tx, instanceId, domain);
            tx.record(organization, loaded, judge(loaded.state, present.id, "import"));
          }
          const isNew =
            isPrimary && present !== undefined && loaded.state?.primaryDomain !== domain;
          if (isNew) tx.record(organization, loaded, setPrimary(loaded.state, present.id));
          return existed;
        },
    }),
  ];
}
