import type { ApiAccess, PatchApp } from "#gen/idsvc/resources/app/v3alpha/app_pb.ts";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { current } from "../../storage/read-cache.ts";
import { listing } from "../object/queries.ts";
import { newClientSecret } from "../object/new-secret.ts";
import { answering, changing, plainAuthorize } from "../object/plain.ts";
import { requireInProject, requireProject } from "../project/index.ts";
import { activateApp, addApp, changeSecret, hasSecret, patchApp } from "./app.ts";
import { type App, app, appEvents, appNotFound, appResource } from "./application.ts";
import { coversEverybody } from "../../authz/holds.ts";
import {
  afterAnswersChanged,
  answersChanged,
  changeApiAccess,
  requireCoversApp,
} from "./api-access.ts";
import { answeringChanges, standingReader } from "./answering-changes.ts";
import { requireSound } from "./compliance.ts";
import { problemsOf, toApiAccess, toConfig, toGetApp, toPatch } from "./convert.ts";
import { clientSecretRef } from "./credentials.ts";
import { appQueries, type AppRow } from "./queries.ts";
import { heldInUse, legacyAccessReader } from "./readers.ts";
import { removeWholeApp } from "./remove-apps.ts";

type Service = typeof AppService;
type NewApp = Pick<App, "projectId" | "name" | "clientId" | "config"> & {
  apiAccess: ApiAccess | undefined;
};
type KeyMethods = "addKey" | "removeKey" | "listKeys";

export function appAuthorize(deps: Deps): Authorize<Service> {
  const requireProjectOf = requireInProject(deps);
  return {
    ...plainAuthorize(deps, AppService, appQueries(deps).find, appNotFound),
    createApp: ({ app: wanted }, scope) => requireProjectOf(scope, wanted?.projectId),
  };
}

export function appHandlers(deps: Deps): Omit<Handlers<Service>, KeyMethods> {
  const { newId } = deps;
  const answer = answering(deps);
  const queries = appQueries(deps);
  const change = changing(deps, app);
  const isHeld = current(deps.db, heldInUse(deps.db));
  const isLegacyApp = current(deps.db, legacyAccessReader(deps.db));
  const { giveSecret } = clientSecrets(deps.secrets);
  const requireAllowed = allowedConfigs(deps.checkUrl);
  const changeAnswering = answeringChanges(deps.db);
  const writes = appWrites(deps);

  return {
    async createApp({ app: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the app");
      const config = toConfig(wanted);
      requireAllowed(config);
      const { projectId, name } = wanted;
      const clientId = newId();
      const made = { projectId, name, clientId, config, apiAccess: wanted.apiAccess };
      const answered = await answer(writeContext(scope), (tx) => writes.create(tx, scope, made));
      return { ...answered, clientId, complianceProblems: problemsOf(config) };
    },

    async patchApp({ id, app: patch }, scope) {
      if (patch === undefined) throw new Error("validation requires the app");
      return answer(writeContext(scope), (tx) => writes.patch(tx, scope, id, patch));
    },

    deactivateApp: ({ id }, scope) => change(scope, id, appResource.deactivate),
    activateApp: ({ id }, scope) => change(scope, id, activateApp),

    async deleteApp({ id }, scope) {
      return answer(writeContext(scope), async (tx) => {
        const loaded = await tx.load(app, id);
        requireCoversApp(loaded.state, scope);
        await removeWholeApp(deps, tx, id);
        return { written: tx.written(loaded) };
      });
    },

    async getApp({ id }, { instanceId }) {
      return { app: await toFound(await queries.get(instanceId, id)) };
    },

    searchApps: listing(queries.search, toFound),

    async regenerateSecret({ id }, scope) {
      return answer(writeContext(scope), async (tx) => {
        const renewed = () => ({ isNew: true, staysBeside: false });
        const changed = await changeAnswering(tx, scope, id, changeSecret, renewed);
        return { written: tx.written(changed), ...(await giveSecret(tx, scope, id)) };
      });
    },
  };

  async function toFound(row: AppRow) {
    const isActive = row.state === "active" && (await isHeld(row.instanceId, row));
    return toGetApp(row, isActive, await isLegacyApp(row.instanceId, row.clientId));
  }
}

/** What making and changing an app writes, in the unit that it is asked in. */
function appWrites(deps: Deps) {
  const standing = standingReader(deps.db);
  const { giveSecret, settleSecret } = clientSecrets(deps.secrets);
  const requireAllowed = allowedConfigs(deps.checkUrl);

  return {
    async create(tx: Transaction, scope: Scope, made: NewApp) {
      const { projectId, name, clientId, config, apiAccess } = made;
      const { organizationId } = await requireProject(tx, projectId);
      const loaded = tx.begin(app, deps.newId());
      const added = addApp(loaded.state, { projectId, name, clientId, config });
      tx.record(app, loaded, added, { type: "org", id: organizationId });
      const { permissions, caller } = scope;
      if (coversEverybody(permissions)) {
        tx.record(app, loaded, [appEvents["maker.changed"]({ isOwner: true })]);
      }
      if (apiAccess !== undefined) {
        const access = toApiAccess(apiAccess);
        const by = { permissions, caller, isLegacy: false };
        tx.record(app, loaded, changeApiAccess(loaded.state, access, by));
      }
      const given = hasSecret({ config }) ? await giveSecret(tx, scope, loaded.id) : {};
      return { written: tx.written(loaded), ...given };
    },

    async patch(tx: Transaction, scope: Scope, id: string, patch: PatchApp) {
      const loaded = await tx.load(app, id);
      const before = loaded.state;
      tx.record(app, loaded, patchApp(before, toPatch(patch)));
      const after = loaded.state;
      if (before === undefined || after === undefined) throw appNotFound();
      if (patch.config.case !== undefined) requireAllowed(after.config, before.config);
      const by = await standing(scope, before.clientId);
      const { differs, isNew } = answersChanged(before, after);
      if (differs) {
        requireCoversApp(before, by);
        const brought = afterAnswersChanged(before, { isNew, staysBeside: false }, by);
        tx.record(app, loaded, brought);
      }
      if (patch.apiAccess !== undefined) {
        const access = toApiAccess(patch.apiAccess);
        tx.record(app, loaded, changeApiAccess(loaded.state, access, by));
      }
      const settled = await settleSecret(tx, scope, id, before, after);
      if ("clientSecret" in settled) tx.record(app, loaded, changeSecret(after));
      const complianceProblems = problemsOf(after.config);
      return { written: tx.written(loaded), ...settled, complianceProblems };
    },
  };
}

const allowedConfigs =
  (checkUrl: Deps["checkUrl"]) =>
  (config: App["config"], before?: App["config"]): void => {
    if (config.kind !== "oidc") return;
    requireSound(config.oidc, before?.kind === "oidc" ? before.oidc : undefined);
    const { backChannelLogoutUri } = config.oidc;
    if (backChannelLogoutUri !== "") {
      checkUrl(backChannelLogoutUri, "app.oidc.back_channel_logout_uri");
    }
  };

/** Gives and takes client secrets in the unit that it is asked in. */
function clientSecrets(secrets: Deps["secrets"]) {
  const giveSecret = (tx: Transaction, { instanceId }: Scope, appId: string) =>
    newClientSecret(tx, secrets, clientSecretRef(instanceId, appId));

  // A method with a secret brings one, a method without takes it away.
  async function settleSecret(tx: Transaction, scope: Scope, id: string, before: App, after: App) {
    if (hasSecret(after)) return hasSecret(before) ? {} : giveSecret(tx, scope, id);
    if (hasSecret(before)) {
      tx.write(secrets.remove(clientSecretRef(scope.instanceId, id)));
    }
    return {};
  }

  return { giveSecret, settleSecret };
}
