import type { JsonObject } from "@bufbuild/protobuf";
import type { World } from "../api/samples/sample.ts";
import type { TestApp } from "../support/app.ts";
import { noticesSent } from "../support/notices.ts";

/** Makes the events of log-ins by a code that was sent to an address in the place of a password. */
export async function rareEmailLogins(
  app: TestApp,
  { create, make, name }: World,
  patch: (path: string, body: JsonObject) => Promise<unknown>,
) {
  await patch("/settings/v3alpha/login", { first_factors: { set: { value: ["email"] } } });
  const email = { address: `${name().replaceAll(" ", "-")}@example.com`, is_verified: true };
  const id = await make("/users", { username: name(), data: {}, contact: { email } });
  const checks = { user: { user_id: id } };
  const begin = async (challenges: JsonObject) =>
    Object(await create("/sessions", { checks, challenges }));
  await begin({ email: {} });
  await noticesSent(app);
  const { session_id, challenges } = await begin({ email: { return_code: {} } });
  const give = (code: string) =>
    patch(`/resources/v3alpha/sessions/${session_id}`, { checks: { email: { code } } });
  await give("no code");
  await give(challenges.email);
  await patch("/settings/v3alpha/login", { first_factors: { reset: true } });
}
