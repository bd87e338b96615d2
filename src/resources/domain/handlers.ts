import type { DomainChallenge, DomainProof } from "../../authz/ports.ts";
import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type DomainValidationSchema,
  DomainValidationType,
  type GetDomainSchema,
} from "#gen/idsvc/resources/domain/v3alpha/domain_pb.ts";
import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import { domainPermission } from "../../authz/roles.ts";
import { type Authorize, authorizeById, type Handlers } from "../../authz/service.ts";
import { decideOn, type Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { loginSettingsReader } from "../../settings/policy/login.ts";
import { current } from "../../storage/read-cache.ts";
import { instance, instanceEvents } from "../instance/index.ts";
import type { EventOf } from "../../eventstore/event.ts";
import { wordsOf } from "../object/words.ts";
import { listing } from "../object/queries.ts";
import { ownerWithin, toDetails } from "../object/details.ts";
import { usernamesElsewhere } from "../user/index.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import {
  addToInstance,
  addToOrganization,
  changeValidation,
  domainNotFound,
  domainProven,
  domainTaker,
  judge,
  organization,
  type OrganizationEvent,
  removeDomain,
  removeInstanceDomain,
  requireElsewhere,
  requireUnproven,
  requireValidation,
  setInstancePrimary,
  setPrimary,
  type Standing,
  type ValidationType,
} from "../org/index.ts";
import { type DomainRow, domainQueries } from "./queries.ts";
import { challengeOf, notProven, tokenRef } from "./validation.ts";
import { contextInvalid } from "../../authz/tenancy.ts";

type Service = typeof DomainService;

/** What domains ask of the service, beside what every slice may use. */
export type DomainPorts = {
  /** Looks up whether the token of a domain is in its place, by the guarded way out (X13). */
  proveDomain: (
    challenge: DomainChallenge,
    signal: AbortSignal | undefined,
  ) => Promise<DomainProof>;
};

const mayOnContext = (scope: Scope, organizationId: string, verb: "read" | "write") =>
  organizationId === ""
    ? scope.permissions.holds(domainPermission("instance", verb), { type: "instance" })
    : scope.permissions.holds(domainPermission("organization", verb), {
        type: "organization",
        id: organizationId,
      });

const needed = (organizationId: string) =>
  permissionMissing(domainPermission(organizationId === "" ? "instance" : "organization", "write"));

export function domainAuthorize(deps: Deps): Authorize<Service> {
  const queries = domainQueries(deps);
  return authorizeById(DomainService, async ({ id, ...asked }, scope) => {
    const { organizationId } = await queries.get(scope.instanceId, id);
    const writes = !scope.method.endsWith("/GetDomain");
    const mayRead = mayOnContext(scope, organizationId, "read");
    if ("dryRun" in asked && asked.dryRun === true && mayRead) {
      // It counts people of other organizations.
      if (mayOnContext(scope, "", "read")) return;
      throw permissionMissing(domainPermission("instance", "read"));
    }
    if (writes && mayOnContext(scope, organizationId, "write")) return;
    if (!mayRead) throw domainNotFound();
    if (writes) throw needed(organizationId);
  });
}

export function domainHandlers(deps: Deps & DomainPorts): Handlers<Service> {
  const { events, secrets, newId } = deps;
  const queries = domainQueries(deps);
  const loginOf = current(deps.db, loginSettingsReader(deps.db));
  const requireFree = requireUnproven(deps.db);
  const validate = domainValidation(deps, rowOf);
  const changing = { events, secrets, rowOf };

  return {
    async createDomain({ domain: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the domain");
      const organizationId =
        scope.context.type === "organization" ? scope.context.organizationId : "";
      if (scope.context.type === "system") {
        throw contextInvalid("the system has no domains");
      }
      if (!mayOnContext(scope, organizationId, "write")) throw needed(organizationId);
      const own = { domain: wanted.name.toLowerCase(), domainId: newId() };
      const [written, validation] = await events.transact(writeContext(scope), async (tx) => {
        if (organizationId === "") {
          const changed = await decideOn(tx, instance, scope.instanceId, (state) =>
            addToInstance(state, own),
          );
          return [tx.written(changed), undefined];
        }
        await requireElsewhere(tx, scope.instanceId, own.domain, "domain.name");
        const type = await proofOf(wanted, scope);
        const standing = type === undefined ? unasked : { validationType: type };
        const changed = await decideOn(tx, organization, organizationId, (state) =>
          addToOrganization(state, own, standing),
        );
        if (type === undefined) await requireFree(tx, scope.instanceId, own.domain);
        const asked =
          type && (await newChallenge(secrets, tx, scope, own.domainId, own.domain, type));
        return [tx.written(changed), asked];
      });
      return { details: ownDetails(written(), own.domainId, organizationId, scope), ...validation };
    },

    async patchDomain({ id, domain: patch }, scope) {
      const type = validationTypes.word(patch?.validationType ?? 0) || "dns";
      const row = await rowOf(scope, id);
      if (row.organizationId === "") throw instanceDomainNeedsNoProof();
      const [written, validation] = await events.transact(writeContext(scope), async (tx) => {
        const changed = await decideOn(tx, organization, row.organizationId, async (state) => {
          tx.requireSequence((await rowOf(scope, id)).sequence);
          return changeValidation(state, id, type);
        });
        return [tx.written(changed), await newChallenge(secrets, tx, scope, id, row.name, type)];
      });
      return { details: ownDetails(written(), id, row.organizationId, scope), ...validation };
    },

    validate,

    async setAsPrimary({ id }, scope) {
      const { isUnasked } = await rowOf(scope, id);
      const counts = !(isUnasked && (await loginOf(scope.instanceId)).validateOrgDomains);
      return change(changing, scope, id, (...of) => setPrimary(...of, counts), setInstancePrimary);
    },

    async deleteDomain({ id }, scope) {
      return change(changing, scope, id, removeDomain, removeInstanceDomain);
    },

    async getDomain({ id }, scope) {
      return { domain: toGetDomain(await rowOf(scope, id)) };
    },

    searchDomains: listing(queries.search, toGetDomain),
  };

  /** How a domain of an organization is to be proven: as was chosen, and always where the login settings ask for it. */
  async function proofOf(
    { validationType }: { validationType: DomainValidationType },
    { instanceId }: Scope,
  ): Promise<ValidationType | undefined> {
    const { validateOrgDomains } = await loginOf(instanceId);
    return validationTypes.word(validationType) || (validateOrgDomains ? "dns" : undefined);
  }

  function rowOf({ instanceId }: Scope, id: string): Promise<DomainRow> {
    return queries.get(instanceId, id);
  }
}

type Changing = Pick<Deps, "events" | "secrets"> & {
  rowOf: (scope: Scope, id: string) => Promise<DomainRow>;
};

async function change(
  { events, secrets, rowOf }: Changing,
  scope: Scope,
  id: string,
  ofOrganization: (...of: Parameters<typeof removeDomain>) => OrganizationEvent[],
  ofInstance: (...of: Parameters<typeof removeInstanceDomain>) => EventOf<typeof instanceEvents>[],
) {
  const { organizationId } = await rowOf(scope, id);
  const written = await events.transact(writeContext(scope), async (tx) => {
    const decide =
      <S, E>(on: (state: S, of: string) => E[]) =>
      async (state: S) => {
        tx.requireSequence((await rowOf(scope, id)).sequence);
        return on(state, id);
      };
    const changed =
      organizationId === ""
        ? await decideOn(tx, instance, scope.instanceId, decide(ofInstance))
        : await decideOn(tx, organization, organizationId, decide(ofOrganization));
    tx.write(secrets.remove(tokenRef(scope.instanceId, id)));
    return tx.written(changed);
  });
  return { details: ownDetails(written(), id, organizationId, scope) };
}

/** Looks for the proof of a domain, or tells what it would change. */
function domainValidation(
  deps: Deps & DomainPorts,
  rowOf: (scope: Scope, id: string) => Promise<DomainRow>,
): Handlers<Service>["validate"] {
  const { events, secrets, proveDomain } = deps;
  const take = domainTaker(deps);
  const usernamesBelow = usernamesElsewhere(deps.db);

  return async ({ id, dryRun }, scope) => {
    const { organizationId } = await rowOf(scope, id);
    if (organizationId === "") throw instanceDomainNeedsNoProof();
    if (dryRun) return rehearse(scope, id, organizationId);
    const before = await events.load(organization, scope.instanceId, organizationId);
    const { name, validationType } = requireValidation(before.state, id);
    const token = await secrets.open(tokenRef(scope.instanceId, id));
    const challenge = challengeOf(name, Buffer.from(token ?? []).toString(), validationType);
    // Looked up outside the unit: it may take seconds, and the decision is taken on what holds then.
    const proof = await proveDomain(challenge, scope.signal);
    if (proof === "proven") await takeFromOthers(scope, { domain: name, organizationId });
    const written = await events.transact(writeContext(scope), async (tx) => {
      const judged = await decideOn(tx, organization, organizationId, (state) =>
        judge(state, id, proof === "proven" ? "challenge" : undefined),
      );
      if (proof === "proven") tx.write(secrets.remove(tokenRef(scope.instanceId, id)));
      return tx.written(judged);
    });
    if (proof !== "proven") throw notProven(challenge, proof);
    return { details: ownDetails(written(), id, organizationId, scope) };
  };

  /**
   * Others who claim it without a proof lose it before the unit that proves it, by an editor of the service: who has proven
   * it is not theirs to know. What comes between is the job's.
   */
  async function takeFromOthers(
    scope: Scope,
    of: { domain: string; organizationId: string },
  ): Promise<void> {
    const { instanceId } = scope;
    const by = { ...writeContext(scope), editorId: "", service: "domains", clientId: "" };
    const turn = () => events.transact(by, (tx) => take(tx, instanceId, of, mostTaken));
    while ((await turn()) === mostTaken);
  }

  /** What a proof would change, without looking for it. */
  async function rehearse(scope: Scope, id: string, organizationId: string) {
    const row = await rowOf(scope, id);
    if (row.isProven) throw domainProven();
    const changedUsernames = await usernamesBelow(scope.instanceId, row.name, organizationId);
    const owner = ownerWithin(scope.instanceId, organizationId);
    return { details: toDetails({ ...row, owner }), changedUsernames };
  }
}

async function newChallenge(
  secrets: Deps["secrets"],
  tx: Transaction,
  { instanceId }: Scope,
  id: string,
  domain: string,
  type: ValidationType,
): Promise<{ validation: MessageInitShape<typeof DomainValidationSchema> }> {
  const token = randomBytes(24).toString("base64url");
  tx.write(await secrets.put(tokenRef(instanceId, id), Buffer.from(token), tx.now));
  const { url, record } = challengeOf(domain, token, type);
  const place =
    url === undefined
      ? { case: "record" as const, value: record ?? "" }
      : { case: "url" as const, value: url };
  return { validation: { token, place } };
}

// The event is the owner's, the details are the domain's.
const ownDetails = (
  written: Parameters<typeof toDetails>[0],
  id: string,
  organizationId: string,
  scope: Scope,
) => toDetails({ ...written, id, owner: ownerWithin(scope.instanceId, organizationId) });

const unasked: Standing = { proof: "none" };
const mostTaken = 100;

const instanceDomainNeedsNoProof = () => domainProven("a domain of the instance needs no proof");

const validationTypes = wordsOf(DomainValidationType, "");

const toGetDomain = (row: DomainRow): MessageInitShape<typeof GetDomainSchema> => ({
  details: toDetails({ ...row, owner: ownerWithin(row.instanceId, row.organizationId) }),
  domain: {
    name: row.name,
    isVerified: row.isVerified,
    isPrimary: row.isPrimary,
    isProven: row.isProven,
    validationType: validationTypes.member(row.validationType),
  },
});
