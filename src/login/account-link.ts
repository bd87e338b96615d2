import { DomainError } from "../errors.ts";
import { linkIdp } from "../resources/user/index.ts";
import type { FlowData } from "./flow.ts";
import type { LoginPorts } from "./ports.ts";
import { providerRefusal } from "./provider-refusals.ts";
import { writing } from "./writing.ts";
import type { LoginSession } from "./sessions.ts";
import { PageRefused, type PageContext } from "./page-context.ts";

/** Links the account at a provider that a flow holds to who has just proven who they are; nothing where it holds none. */
export type AccountLink = (context: PageContext, session: LoginSession) => Promise<void>;

/**
 * Only the last step of a login links: whoever is merely named gets nothing (D62). Where linking is not allowed
 * only the user whom auto linking found gets it.
 *
 * @throws PageRefused PROVIDER_NOT_LINKED, PROVIDER_OFF
 */
export function createAccountLink({
  events,
  intents,
}: Pick<LoginPorts, "events" | "intents">): AccountLink {
  return async (context, { user }) => {
    const { idp: pending, ...rest } = context.flow.data;
    if (pending?.isLinking !== true) return;
    try {
      await linkHeld(context, user, pending);
    } catch (error) {
      // Otherwise whatever else is tried in this flow would end here again.
      const { sessionId: _, loginName: __, userId: ___, ...begun } = rest;
      await context.save(begun);
      throw providerRefusal(error, context);
    }
    await context.save(rest);
  };

  async function linkHeld(
    context: PageContext,
    user: LoginSession["user"],
    { intentId, idpId, candidateId }: HeldAccount,
  ): Promise<void> {
    const { instanceId } = context.at;
    const idp = await intents.provider(instanceId, idpId);
    if (idp === undefined || !(await intents.isActive(instanceId, user.organizationId, idpId))) {
      throw new PageRefused("PROVIDER_OFF", 403, "IDP_INACTIVE: it is not active for the user");
    }
    if (!idp.options.isLinkingAllowed && candidateId !== user.id) {
      throw notLinked("IDP_LINKING_OFF: only the account that was found may be linked");
    }
    const said = await intents.said(instanceId, { id: intentId, flowId: context.flow.id });
    if (said === undefined) throw notLinked("IDP_INTENT_SPENT: the login with it is over");
    const { id: externalUserId, username, email = "" } = said.identity;
    try {
      await events.transact(writing(context, user.id), async (tx) => {
        await intents.hold(tx, { instanceId, organizationId: user.organizationId }, idpId);
        await linkIdp(tx, user.id, { idpId, externalUserId, username: username ?? email });
        await intents.spend(tx, instanceId, said, user.id);
      });
    } catch (error) {
      if (!(error instanceof DomainError) || !refusals.has(error.kind)) throw error;
      throw notLinked(`${error.reason}: ${error.message}`);
    }
  }
}

const refusals: ReadonlySet<string> = new Set(["alreadyExists", "failedPrecondition", "notFound"]);

type HeldAccount = NonNullable<FlowData["idp"]>;

const notLinked = (detail: string) => new PageRefused("PROVIDER_NOT_LINKED", 403, detail);
