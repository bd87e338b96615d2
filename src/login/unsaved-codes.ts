import type { SecretStore } from "../eventstore/secret-store.ts";
import type { PageContext } from "./page-context.ts";

/**
 * Recovery codes that a flow has made and whose owner has not said yet that they have saved them. Their digests alone are stored with
 * the user; until then the codes themselves rest with the flow, sealed, for the session that they were made in, and go with it.
 */
export type UnsavedCodes = {
  keep(context: PageContext, sessionId: string, codes: readonly string[]): Promise<void>;
  /** Undefined where there are none to save. */
  read(context: PageContext): Promise<readonly string[] | undefined>;
  drop(context: PageContext): Promise<void>;
};

const purposeOf = (flowId: string, sessionId: string) => `recovery codes ${flowId} ${sessionId}`;

export const unsavedCodes = (secrets: SecretStore): UnsavedCodes => ({
  async keep(context, sessionId, codes) {
    const { id, data } = await context.persisted();
    const clear = Buffer.from(JSON.stringify(codes));
    const { instanceId } = context.at;
    const sealed = await secrets.sealText(instanceId, purposeOf(id, sessionId), clear);
    await context.save({ ...data, recoveryCodes: { sessionId, sealed } });
  },

  async read({ at, flow: { id, data } }) {
    const { recoveryCodes, sessionId } = data;
    if (recoveryCodes === undefined || recoveryCodes.sessionId !== sessionId) return undefined;
    const purpose = purposeOf(id, recoveryCodes.sessionId);
    const clear = await secrets.openText(at.instanceId, purpose, recoveryCodes.sealed);
    return clear === undefined ? undefined : JSON.parse(Buffer.from(clear).toString());
  },

  async drop(context) {
    const { recoveryCodes: _, ...rest } = context.flow.data;
    await context.save(rest);
  },
});
