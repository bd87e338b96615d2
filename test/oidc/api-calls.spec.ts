// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startReceiver } from "../executor/receiver.ts";
import { startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";

const service = await startOidc();
const receiver = await startReceiver();
after(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const scope = ["openid", "urn:idsvc:iam:org:project:id:idsvc:aud"];
const nicknamed = (nickname: string) => ({ given_name: "Ada", family_name: "Lovelace", nickname });
const method = "/idsvc.resources.user.v3alpha.UserService/PatchUser";

describe("a call of the API with an access token", () => {
  it("is known by the client that it was issued to: events name it (C9), targets its project (X6)", async () => {
    const url = receiver.url("/hook");
    const target = { name: uniqueName("target"), rest_webhook: { url } };
    const { details } = bodyOf(await service.post("/targets", target), 201);
    const execution = { condition: { request: { method } }, targets: [details.id] };
    bodyOf(await service.post("/executions", execution), 201);

    const client = await service.addClient();
    const user = await service.addPerson();
    const { access_token: token } = await service.tokensFor(client, user, { scope });
    const path = `/users/${user}`;
    const own = { token };
    bodyOf(await service.patch(path, { data: nicknamed("Bee") }, own));
    bodyOf(await service.patch(path, { data: nicknamed("Bea") }));

    const told = receiver.calls.map(({ json }) => ({ by: json.userID, of: json.projectID }));
    assert.deepEqual(told, [
      { by: user, of: client.projectId },
      { by: service.app.made.machine.user_id, of: "" },
    ]);
    const changes = await service.events("user.human.profile.changed");
    assert.deepEqual(
      changes.map(({ editorId, clientId }) => [editorId, clientId]),
      [
        [user, client.clientId],
        [service.app.made.machine.user_id, ""],
      ],
    );
  });
});
