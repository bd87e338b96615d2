import {
  type IDPLinkFilter,
  IDPLinkFilterSchema,
} from "#gen/idsvc/resources/user/v3alpha/idp_link_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Handlers } from "../../../authz/service.ts";
import { failedPrecondition, invalidField } from "../../../errors.ts";
import { search } from "../../../projection/search.ts";
import { eq } from "../../../storage/drizzle.ts";
import { toListDetails } from "../../object/details.ts";
import { listName, toPage } from "../../object/list.ts";
import { mayOn } from "../../../authz/tenancy.ts";
import { permissionMissing } from "../../../authz/permissions.ts";
import { toIdpLink } from "../authenticator/convert.ts";
import { userAuthenticators } from "../authenticator/projection.ts";
import { changingUser } from "../change.ts";
import type { Credentials } from "../credentials.ts";
import { addIdpLink } from "./idp-link.ts";

export function idpLinkHandlers({ deps }: Credentials) {
  const { db, intents, limits, secrets } = deps;
  const t = db.table(userAuthenticators);
  const change = changingUser(deps);
  const condition = ({ filter }: IDPLinkFilter) =>
    filter.case === "idpId" ? eq(t.id, filter.value) : undefined;

  return {
    addIDPAuthenticator: ({ id, authenticator }, scope) =>
      change(scope, id, async ({ tx, ref, state, record }) => {
        const account = authenticator?.account;
        const { instanceId } = ref;
        const { organizationId } = state;
        if (account?.case === "link") {
          if (!mayOn(scope, scope.policy.act, state)) throw permissionMissing(scope.policy.act);
          const { idpId, userId: externalUserId, username } = account.value;
          await intents.hold(tx, { instanceId, organizationId }, idpId);
          return record(addIdpLink(state, { idpId, externalUserId, username }));
        }
        if (account?.case !== "idpIntent") throw new Error("validation requires the account");
        const { idpIntentId, idpIntentToken: token } = account.value;
        const said = await intents.said(instanceId, { id: idpIntentId, token });
        if (said === undefined) throw intentInvalid();
        const { idpId, identity } = said;
        await intents.hold(tx, { instanceId, organizationId }, idpId);
        const { idp } = await intents.requireIdp(instanceId, organizationId, idpId);
        if (!idp.options.isLinkingAllowed) throw linkingOff();
        const username = identity.username ?? identity.email ?? "";
        await intents.spend(tx, instanceId, said, id);
        record(addIdpLink(state, { idpId, externalUserId: identity.id, username }));
      }),

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
  } satisfies Partial<Handlers<typeof UserService>>;
}

const intentInvalid = () =>
  invalidField(
    "authenticator.idp_intent",
    "IDP_INTENT_INVALID",
    "is no login with a provider that succeeded within the last hour and was not used",
  );

const linkingOff = () =>
  failedPrecondition(
    "IDP_LINKING_OFF",
    "accounts of this provider cannot be linked: its option is_linking_allowed is off",
  );
