import type { Budgets } from "../../../authz/budgets.ts";
import type { FeatureReader, NoteRefusal } from "../../../authz/ports.ts";
import { equalInConstantTime } from "../../../crypto/digests.ts";
import { failedPrecondition, notFound } from "../../../errors.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import type { ExternalIdentity, Federation, Provider } from "../../../federation/index.ts";
import type { Deps } from "../../../projection/module.ts";
import { loginSettingsReader } from "../../../settings/policy/login.ts";
import { rowsWhere } from "../../../projection/rows.ts";
import { deleteRows } from "../../../storage/row-change.ts";
import { whoAnswersFor } from "../answers.ts";
import { holdIdp } from "../hold-idp.ts";
import { type Idp, idpReader } from "../reader.ts";
import { idpSecretReader } from "../secret.ts";
import { consume, idpIntent } from "./intent.ts";
import { toProviderConfig } from "./provider.ts";
import { identityRef, idpIntents, type IntentRow } from "./table.ts";

/** What proves that the login was the caller's: the token, or the flow that it belongs to. */
export type IntentProof = { id: string } & ({ token: string } | { flowId: string });

export type Said = { id: string; idpId: string; identity: ExternalIdentity };

/** What logins with identity providers ask of the service, beside what every slice may use. */
export type IntentPorts = {
  /** Logins with identity providers, by the guarded way out. */
  federation: Federation;
  /** Which features are on. */
  features: FeatureReader;
  /** What one source may cost. */
  budgets: Budgets;
  /** Notes that somebody was refused. */
  noteRefusal: NoteRefusal;
};

export type IntentDeps = Pick<Deps, "db" | "events" | "secrets" | "now" | "newId"> & IntentPorts;

export type IdpIntents = ReturnType<typeof createIdpIntents>;

/**
 * What logins with identity providers are used for (specification 11.4): each once, for a session or for a link, within an hour
 * after its success. The provider must be active for whom the login is (E5).
 */
export function createIdpIntents(deps: IntentDeps) {
  const { db, events, secrets, federation } = deps;
  const idps = idpReader(db, deps.features);
  const secretOf = idpSecretReader(db, secrets);
  const settings = loginSettingsReader(db);

  /** Whether users of an organization, or of no certain one, may log in with it. */
  async function isActive(
    instanceId: string,
    organizationId: string | undefined,
    idpId: string,
  ): Promise<boolean> {
    const { allowExternalIdp } = await settings(instanceId, organizationId);
    const state = await idps.effectiveState(instanceId, organizationId, idpId);
    return allowExternalIdp && state === "active";
  }

  /** @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE */
  async function requireIdp(
    instanceId: string,
    organizationId: string | undefined,
    idpId: string,
  ): Promise<{ idp: Idp; provider: Provider }> {
    await db.catchUp();
    const idp = await idps.provider(instanceId, idpId);
    const state = await idps.effectiveState(instanceId, organizationId, idpId);
    if (idp === undefined || state === undefined) throw idpUnknown();
    if (!(await isActive(instanceId, organizationId, idpId))) throw idpInactive();
    return { idp, provider: await providerOf(instanceId, idp) };
  }

  async function providerOf(instanceId: string, idp: Idp): Promise<Provider> {
    const secret = await secretOf(instanceId, idp.id);
    return {
      instanceId,
      id: idp.id,
      config: toProviderConfig(idp),
      secret: secret === undefined ? undefined : Buffer.from(secret).toString("utf8"),
    };
  }

  /** What a provider said, for who can prove that the login was theirs; undefined once it is over or used. */
  async function said(instanceId: string, proof: IntentProof): Promise<Said | undefined> {
    const row = await living(deps, { instanceId, id: proof.id });
    if (row?.phase !== "succeeded") return undefined;
    if (!(await isProven(secrets, row, proof))) return undefined;
    const bytes = await secrets.open(identityRef(instanceId, proof.id));
    if (bytes === undefined) return undefined;
    const identity = JSON.parse(Buffer.from(bytes).toString("utf8")) as ExternalIdentity;
    return { id: row.id, idpId: row.idpId, identity };
  }

  return {
    isActive,
    hold: (tx: Transaction, at: { instanceId: string; organizationId: string }, idpId: string) =>
      holdIdp(db, tx, at, idpId),
    whoAnswersFor: (at: { instanceId: string; idpId: string }) => whoAnswersFor(events, at),
    offered: idps.list,
    provider: idps.provider,
    requireIdp,
    rowOf: (instanceId: string, id: string) => living(deps, { instanceId, id }),
    said,

    /** Uses it up, in the unit of what it is used for. @throws FAILED_PRECONDITION IDP_INTENT_SPENT */
    async spend(tx: Transaction, instanceId: string, { id }: Said, userId: string): Promise<void> {
      const loaded = await tx.load(idpIntent, id);
      tx.record(idpIntent, loaded, consume(loaded.state, userId));
      tx.write(
        deleteRows(idpIntents, { instanceId, id }),
        secrets.remove(identityRef(instanceId, id)),
      );
    },

    /** What a provider of SAML must know of the instance; undefined where there is no such provider. */
    async samlMetadata(
      { instanceId, issuer }: { instanceId: string; issuer: string },
      idpId: string,
    ): Promise<string | undefined> {
      const idp = await idps.provider(instanceId, idpId);
      if (idp?.type !== "saml") return undefined;
      const provider = await providerOf(instanceId, idp);
      const { config } = provider;
      return config.type === "saml"
        ? federation.metadata({ ...provider, config }, issuer)
        : undefined;
    },
  };
}

/** Whether a proof shows that the login was its giver's: by its flow, or else by the token that was given for it. */
async function isProven(
  secrets: Deps["secrets"],
  row: IntentRow,
  proof: IntentProof,
): Promise<boolean> {
  if ("flowId" in proof) return proof.flowId !== "" && row.flowId === proof.flowId;
  if (row.flowId !== "") return false;
  const digest = await secrets.digest(row.instanceId, proof.token);
  return equalInConstantTime(Buffer.from(row.tokenDigest), Buffer.from(digest));
}

/** A login whose time is not over. */
export async function living(
  { db, now }: Pick<IntentDeps, "db" | "now">,
  where: Partial<IntentRow>,
): Promise<IntentRow | undefined> {
  await db.catchUp();
  const [row] = await rowsWhere(db, idpIntents, where);
  return row !== undefined && row.expiresAt > now() ? row : undefined;
}

const idpUnknown = () =>
  notFound("IDP_UNKNOWN", "there is no such identity provider in the context");

export const idpInactive = () =>
  failedPrecondition(
    "IDP_INACTIVE",
    "the identity provider is not active for the organization: users of it cannot log in with it",
  );
