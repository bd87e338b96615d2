import { ImportedUserLinkSchema } from "#gen/idsvc/management/v1/data_pb.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { linkIdp, user, type UserDeps, userNotFound } from "../../resources/user/index.ts";
import { created, existed, kind, type Kind, type Known, refsOfUser } from "./kind.ts";

/** Accounts at identity providers, which must be there or come with the same import. */
export const linkKinds = ({ intents }: Pick<UserDeps, "intents">): Kind[] => [
  kind("userLinks", {
    type: ImportedUserLinkSchema,
    idOf: ({ userId, idpId }) => `${userId}/${idpId}`,
    refs: ({ userId }, orgId) => refsOfUser(userId, orgId),
    begin:
      ({ userId, idpId, providedUserId, providedUserName }, { instanceId, orgId, known }) =>
      async (tx) => {
        const { state } = await tx.load(user, userId);
        if (state?.organizationId !== orgId) throw userNotFound();
        const has = state.authenticators.some(
          (authenticator) =>
            authenticator.kind === "idp" &&
            authenticator.id === idpId &&
            authenticator.address === providedUserId,
        );
        if (has) return existed;
        const link = { configId: idpId, externalUserId: providedUserId };
        const wanted = { ...link, displayName: providedUserName };
        const at = { instanceId, organizationId: orgId, known };
        await addLink(tx, { intents }, at, userId, wanted);
        return created();
      },
  }),
];

type Link = { configId: string; externalUserId: string; displayName: string };

/**
 * Links an account at a provider of the organization or the instance to a person.
 *
 * @throws NOT_FOUND IDP_NOT_FOUND
 * @throws ALREADY_EXISTS IDP_LINK_EXISTS, IDP_LINK_TAKEN; FAILED_PRECONDITION USER_IS_MACHINE
 */
export async function addLink(
  tx: Transaction,
  { intents }: Pick<UserDeps, "intents">,
  at: { instanceId: string; organizationId: string; known?: Known },
  userId: string,
  link: Link,
): Promise<void> {
  const { configId: idpId, externalUserId, displayName: username } = link;
  const noted = await at.known?.find("idp", idpId);
  if (noted?.["orgId"] !== at.organizationId) await intents.hold(tx, at, idpId);
  await linkIdp(tx, userId, { idpId, externalUserId, username });
}
