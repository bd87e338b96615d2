import { organization, organizationEvents } from "../../src/resources/org/index.ts";
import type { World } from "../api/samples/sample.ts";
import type { TestApp } from "../support/app.ts";
import { noticesSent } from "../support/notices.ts";

/** Makes the events of a person to whom everything is sent that the service sends: each code while it is the last. */
export async function rareNotices(app: TestApp, { create, make, name }: World) {
  const person = () => ({
    schema_id: "human",
    username: name(),
    data: { given_name: "A", family_name: "B" },
  });
  const email = { address: "new@example.com" };
  await make("/users", { ...person(), contact: { email, phone: { number: "+41791234567" } } });
  const id = await make("/users", {
    ...person(),
    contact: {
      email: { address: "told@example.com", is_verified: true },
      phone: { number: "+41791234568", is_verified: true },
    },
    authenticators: { password: { password: "correct horse battery staple" } },
  });
  for (const [path, body] of [
    ["password/_reset", { send_email: {} }],
    ["password", { password: "another horse battery staple" }],
    ["webauthn/registration_link", { send_link: {} }],
    ["otp_sms", { number: "+41791234569" }],
    ["otp_email", { address: "otp@example.com" }],
  ] as const) {
    await create(`/users/${id}/${path}`, body);
    await noticesSent(app);
  }
  await make("/users", {
    ...person(),
    username: "told@claimed.example",
    contact: { email: { address: "claimed@example.com", is_verified: true } },
  });
  await make("/organizations", { name: name(), domain: "claimed.example" });
  const claimer = await make("/organizations", { name: name() });
  // As if a token had been found.
  const { kernel, made } = app;
  const by = { instanceId: made.instance_id, editorId: "test", service: "test", clientId: "" };
  await kernel.events.transact({ ...by, requestId: "" }, async (tx) => {
    const own = { domain: "claimed.example", domainId: kernel.newId() };
    const loaded = await tx.load(organization, claimer);
    const proven = organizationEvents["domain.verified"]({ ...own, proof: "challenge" });
    tx.record(organization, loaded, [organizationEvents["domain.added"](own), proven]);
  });
  await noticesSent(app);
}
