import {
  type IDPLinkFilter,
  IDPLinkFilterSchema,
} from "#gen/idsvc/resources/user/v3alpha/idp_link_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { failedPrecondition, invalidField } from "../../../errors.ts";
import { search } from "../../../projection/search.ts";
import { eq } from "../../../storage/drizzle.ts";
import { requireIdp } from "../../idp/index.ts";
import { createIdpIntents } from "../../idpintent/index.ts";
import { toDetails, toListDetails } from "../../object/details.ts";
import { listName, toPage } from "../../object/list.ts";
import { mayOn } from "../../../authz/tenancy.ts";
import { permissionMissing } from "../../../authz/permissions.ts";
import { toIdpLink } from "../authenticator/convert.ts";
import type { IdpLink } from "../authenticator/events.ts";
import { userAuthenticators } from "../authenticator/projection.ts";
import type { Credentials } from "../credentials.ts";
import { requireUser, user } from "../user.ts";
import { linkIdp, removeIdpLink } from "./idp-link.ts";

export type IdpLinkMethods =
  | "addIDPAuthenticator"
  | "removeIDPAuthenticator"
  | "searchIDPAuthenticators";

type Link = IdpLink & { username: string };

export function idpLinkHandlers({
  deps,
}: Credentials): Pick<Handlers<typeof UserService>, IdpLinkMethods> {
  const { db, events, limits, secrets } = deps;
  const t = db.table(userAuthenticators);
  const intents = createIdpIntents(deps);
  const condition = ({ filter }: IDPLinkFilter) =>
    filter.case === "idpId" ? eq(t.id, filter.value) : undefined;

  return {
    async addIDPAuthenticator({ id, authenticator }, scope) {
      const account = authenticator?.account;
      const { instanceId } = scope;
      const written = await events.transact(writeContext(scope), async (tx) => {
        const state = await requireUser(tx, id);
        if (account?.case === "link") {
          if (!mayOn(scope, scope.policy.act, state)) throw permissionMissing(scope.policy.act);
          const { idpId, userId: externalUserId, username } = account.value;
          await requireIdp(db, tx, { instanceId, organizationId: state.organizationId }, idpId);
          return tx.written(await linkIdp(tx, id, { idpId, externalUserId, username }));
        }
        if (account?.case !== "idpIntent") throw new Error("validation requires the account");
        const proof = {
          id: account.value.idpIntentId,
          token: account.value.idpIntentToken,
        };
        const said = await intents.said(instanceId, proof);
        if (said === undefined) throw intentInvalid();
        const { idpId, identity } = said;
        await requireIdp(db, tx, { instanceId, organizationId: state.organizationId }, idpId);
        const { idp } = await intents.requireIdp(instanceId, state.organizationId, idpId);
        if (!idp.options.isLinkingAllowed) throw linkingOff();
        const link: Link = {
          idpId,
          externalUserId: identity.id,
          username: identity.username ?? identity.email ?? "",
        };
        await intents.spend(tx, instanceId, said, id);
        return tx.written(await linkIdp(tx, id, link));
      });
      return { details: toDetails(written()) };
    },

    async removeIDPAuthenticator({ id, idpId }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        tx.record(user, loaded, removeIdpLink(loaded.state, idpId));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async searchIDPAuthenticators({ id, query, filters }, { instanceId }) {
      const found = await search(db, userAuthenticators, {
        instanceId,
        filters: [eq(t.userId, id), eq(t.kind, "idp"), ...filters.map(condition)],
        order: t.creationDate,
        page: toPage(query),
        limits,
        cursors: { secrets, instanceId, list: listName(IDPLinkFilterSchema, filters, id) },
      });
      return { details: toListDetails(found), result: found.rows.map(toIdpLink) };
    },
  };
}

const intentInvalid = () =>
  invalidField(
    "authenticator.idp_intent",
    "IDP_INTENT_INVALID",
    "is no login with a provider that succeeded within the last hour and was not used",
  );

export const linkingOff = () =>
  failedPrecondition(
    "IDP_LINKING_OFF",
    "accounts of this provider cannot be linked: its option is_linking_allowed is off",
  );
