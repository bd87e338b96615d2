// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startMailServer } from "../support/mail-server.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";

const mails = await startMailServer();
const service = await startPeer();
const { app, peer, post, patch, remove, addOrganization, addMember } = service;
after(async () => {
  await service[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});
const sender = { sender_address: "no-reply@idsvc.test", sender_name: "Idsvc" };
const provider = { ...sender, host: mails.host, state_policy: "STATE_POLICY_ACTIVATE" };
bodyOf(await post("/smtp_providers", provider), 201);

const word = (kind: string) => uniqueName(kind).replaceAll(" ", "-");
const shipped = { subject: "Set a new password", code: "Code: " };

async function person(organizationId: string) {
  const address = `${word("mail")}@example.test`;
  const wanted = {
    username: word("user"),
    data: { given_name: "Ada", preferred_language: "en" },
    contact: { email: { address, is_verified: true } },
  };
  const made = await post(`/users?ctx.org_id=${organizationId}`, wanted);
  return { id: String(bodyOf(made, 201).details.id), address };
}
const give = async (ctx: Record<string, string>, userId: string, role: string) =>
  bodyOf(await post("/memberships", { ctx, user_id: userId, roles: [role] }), 201);

/** Sets what a reset says, in an organization or in the instance, each text with the mark of who set it. */
async function setTexts(mark: string, token: string, organizationId?: string) {
  const ctx = organizationId === undefined ? "" : `?ctx.org_id=${organizationId}`;
  const words = {
    "message.passwordReset.subject": `${mark} subject`,
    "message.passwordReset.text": `${mark}: send your code to help@evil.test`,
    "message.code": `${mark} {code}`,
    "message.open": `${mark} open`,
  };
  const texts = Object.entries(words).map(([key, set]) => ({ key, language: "en", set }));
  bodyOf(await peer.rest("PATCH", `/settings/v3alpha/texts${ctx}`, texts, { token }));
}
const reset = ["message.passwordReset.subject", "message.passwordReset.text"].concat([
  "message.code",
  "message.open",
]);
async function resetTexts(organizationId?: string) {
  const ctx = organizationId === undefined ? "" : `?ctx.org_id=${organizationId}`;
  const texts = reset.map((key) => ({ key, language: "en", reset: true }));
  bodyOf(await peer.rest("PATCH", `/settings/v3alpha/texts${ctx}`, texts, { token: app.token }));
}

/** What a user is sent who is to set a new password. */
async function sentTo({ id, address }: { id: string; address: string }, count = 1) {
  bodyOf(await post(`/users/${id}/password/_reset`, { send_email: {} }));
  return mails.mailTo(address, count);
}

describe("texts of messages, and to whom they go (J9)", () => {
  it("are shipped ones for whom the setter does not cover: no line of theirs stands beside the code", async () => {
    const home = await addOrganization();
    const owner = await addMember(home, ["ORG_OWNER"]);
    const [nobody, colleague, viewer, iam] = [
      await person(home),
      await person(home),
      await person(home),
      await person(home),
    ];
    await give({ org_id: home }, colleague.id, "ORG_OWNER");
    await give({ instance_id: app.made.instance_id }, viewer.id, "IAM_OWNER_VIEWER");
    await give({ instance_id: app.made.instance_id }, iam.id, "IAM_OWNER");
    await setTexts("theirs", owner.token, home);
    for (const covered of [nobody, colleague]) {
      const { subject, text = "", html = "" } = await sentTo(covered);
      assert.equal(subject, "theirs subject");
      for (const said of ["theirs: send", "theirs open", "theirs "])
        assert.ok(`${text}${html}`.includes(said), said);
    }
    for (const above of [viewer, iam]) {
      const { subject, text = "", html = "" } = await sentTo(above);
      assert.equal(subject, shipped.subject);
      assert.ok(text.includes(shipped.code), text);
      assert.ok(!`${text}${html}`.includes("theirs") && !text.includes("evil.test"));
    }
    // Those of the instance, whose setter covers everybody, stand in.
    await setTexts("ours", app.token);
    try {
      assert.equal((await sentTo(iam, 2)).subject, "ours subject");
      assert.equal((await sentTo(nobody, 2)).subject, "theirs subject");
    } finally {
      await resetTexts();
    }
  });

  it("are judged by what setter and user may do now", async () => {
    const home = await addOrganization();
    const manager = await addMember(home, ["ORG_SETTINGS_MANAGER"]);
    const ada = await person(home);
    await setTexts("theirs", manager.token, home);
    assert.equal((await sentTo(ada)).subject, "theirs subject");
    const given = await give({ org_id: home }, ada.id, "ORG_OWNER");
    assert.equal((await sentTo(ada, 2)).subject, shipped.subject);
    const ids = [{ in_user_ids: { ids: [manager.userId] } }];
    const [held] = bodyOf(await post("/memberships/_search", ids)).result;
    const setRoles = async (...roles: string[]) =>
      bodyOf(await patch(`/memberships/${held.details.id}`, { roles }));
    await setRoles("ORG_SETTINGS_MANAGER", "ORG_OWNER");
    assert.equal((await sentTo(ada, 3)).subject, "theirs subject");
    await setRoles("ORG_SETTINGS_MANAGER");
    assert.equal((await sentTo(ada, 4)).subject, shipped.subject);
    bodyOf(await remove(`/memberships/${given.details.id}`));
    assert.equal((await sentTo(ada, 5)).subject, "theirs subject");
  });

  it("whose setter is gone go to those alone who may do nothing", async () => {
    const home = await addOrganization();
    const owner = await addMember(home, ["ORG_OWNER"]);
    const [ada, eve] = [await person(home), await person(home)];
    await give({ org_id: home }, eve.id, "ORG_OWNER");
    await setTexts("theirs", owner.token, home);
    bodyOf(await remove(`/users/${owner.userId}`));
    assert.equal((await sentTo(ada)).subject, "theirs subject");
    assert.equal((await sentTo(eve)).subject, shipped.subject);
  });
});
