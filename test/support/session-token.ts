import assert from "node:assert/strict";
import { sessionEvents, type SessionEvent } from "../../src/resources/session/events.ts";
import { addSession, nameUser, session, setToken } from "../../src/resources/session/session.ts";
import { newSessionToken } from "../../src/resources/session/token.ts";
import { user } from "../../src/resources/user/index.ts";
import type { TestApp } from "./app.ts";

/** What can count as checked in a session; a passkey verified its user. */
export type Checked = "passkey" | "u2f" | "password" | "totp" | "recovery_code" | "provider";

const events: Record<Checked, () => SessionEvent> = {
  passkey: () => sessionEvents["webauthn.checked"]({ webAuthNId: "1", isUserVerified: true }),
  u2f: () => sessionEvents["webauthn.checked"]({ webAuthNId: "1", isUserVerified: false }),
  password: () => sessionEvents["password.checked"]({}),
  totp: () => sessionEvents["totp.checked"]({}),
  recovery_code: () => sessionEvents["recovery_code.checked"]({}),
  provider: () => sessionEvents["intent.checked"]({ idpId: "1" }),
};

/**
 * The token of a fresh session of a person, in which these count as checked just now: by default a passkey that verified
 * them, which is as strong as any factor that they may have.
 */
export function sessionTokenFor(
  { kernel, made }: Pick<TestApp, "kernel" | "made">,
  userId: string,
  { methods = ["passkey"] }: { methods?: readonly Checked[] } = {},
): Promise<string> {
  const { instance_id: instanceId } = made;
  const by = { instanceId, editorId: "test", service: "test", clientId: "", requestId: "test" };
  return kernel.events.transact(by, async (tx) => {
    const { state } = await tx.load(user, userId);
    assert.ok(state !== undefined, "there is such a user");
    const loaded = tx.begin(session, kernel.newId());
    tx.record(session, loaded, addSession(), { type: "instance", id: instanceId });
    const { organizationId } = state;
    tx.record(session, loaded, nameUser(loaded.state, { id: userId, organizationId }));
    tx.record(session, loaded, [...methods.map((each) => events[each]()), ...setToken()]);
    const at = { instanceId, sessionId: loaded.id };
    const { token, change } = await newSessionToken(kernel.secrets, at, tx.now);
    tx.write(change);
    return token;
  });
}
