import { memberEvents } from "../../../src/resources/membership/events.ts";
import { membership } from "../../../src/resources/membership/membership.ts";
import { addCaller, type TestApp } from "../../support/app.ts";

/**
 * A user who may read events in one organization. No role of organizations gives that, so their membership is made by hand.
 */
export async function readerOf(
  app: TestApp,
  organizationId: string,
): Promise<{ token: string; membershipId: string }> {
  const { kernel, made } = app;
  const { userId, token } = await addCaller(app, []);
  const membershipId = kernel.newId();
  const at = { instanceId: made.instance_id, editorId: "test", service: "test", clientId: "" };
  await kernel.events.transact({ ...at, requestId: "" }, async (tx) => {
    const loaded = tx.begin(membership, membershipId);
    const roles = ["IAM_OWNER_VIEWER"];
    const added = memberEvents.organization.added({ userId, organizationId, roles });
    tx.record(membership, loaded, [added], { type: "org", id: organizationId });
  });
  return { token, membershipId };
}
