// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { type ProviderWorld, startProviderWorld } from "../../login/provider-world.ts";
import { images } from "../../settings/branding/images.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";

const png = images["image/png"];
const mark = png.toString("base64");
const largest = 16 * 1024;

let world: ProviderWorld;
before(async () => {
  world = await startProviderWorld();
});
after(() => world[Symbol.asyncDispose]());

const config = { client_id: "a", client_secret: "b" };
const addMarked = async (content: string) => {
  const body = { idp: { name: "Marked", mark: content }, config };
  return world.peer.post("/idps/forge_b", body);
};
const patch = (id: string, idp: JsonObject) => world.peer.patch(`/idps/forge_b/${id}`, { idp });
const markOf = async (id: string): Promise<string | undefined> =>
  bodyOf(await world.peer.get(`/idps/forge_b/${id}`)).idp.idp.idp.mark;
/** Where the page of a new log-in shows the mark of a provider. */
async function shownMark(id: string): Promise<string | undefined> {
  const { html } = (await world.begin()).last;
  const [, path] = new RegExp(`<img class="mark" src="(/ui/marks/${id}/[^"]+)"`).exec(html) ?? [];
  return path;
}
const open = (path: string) => fetch(`${world.peer.issuer}${path}`);

describe("the mark of an identity provider", () => {
  it("stands on its button, and is served to everybody as an image that runs nothing", async () => {
    const { id } = bodyOf(await addMarked(mark), 201).details;
    assert.equal(await markOf(id), mark);
    const path = await shownMark(id);
    assert.ok(path !== undefined);
    const answer = await open(path);
    assert.equal(answer.status, 200);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), png);
    const { headers } = answer;
    assert.equal(headers.get("content-type"), "image/png");
    assert.equal(headers.get("content-security-policy"), "default-src 'none'; sandbox");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("cache-control") ?? "", /immutable/);
    bodyOf(await world.peer.post("/idps/_search", [])).result.forEach((each: object) =>
      assert.ok(!JSON.stringify(each).includes(mark)),
    );
  });

  it("has another address when it is another one, and is the drawn one when it is taken away", async () => {
    const { id } = bodyOf(await addMarked(mark), 201).details;
    const first = (await shownMark(id)) ?? "";
    const webp = images["image/webp"];
    bodyOf(await patch(id, { mark: webp.toString("base64") }));
    const second = (await shownMark(id)) ?? "";
    assert.notEqual(second, first);
    assert.equal((await open(first)).status, 404);
    assert.equal((await open(second)).headers.get("content-type"), "image/webp");
    // What is not named stays, and what changes nothing is no event.
    const { sequence } = bodyOf(await patch(id, { name: "Renamed" })).details;
    assert.equal(
      bodyOf(await patch(id, { mark: webp.toString("base64") })).details.sequence,
      sequence,
    );
    assert.equal(await shownMark(id), second);
    bodyOf(await patch(id, { mark: "" }));
    assert.equal(await shownMark(id), undefined);
    assert.equal(await markOf(id), undefined);
    assert.equal((await open(second)).status, 404);
    bodyOf(await world.peer.remove(`/idps/${id}`));
  });

  it("goes with its provider, and is of no other one", async () => {
    const { id } = bodyOf(await addMarked(mark), 201).details;
    const path = (await shownMark(id)) ?? "";
    const other = path.replace(id, await world.addForgeB());
    for (const wrong of [other, path.replace(id, "nobody"), `${path}x`]) {
      assert.equal((await open(wrong)).status, 404, wrong);
    }
    bodyOf(await world.peer.remove(`/idps/${id}`));
    assert.equal((await open(path)).status, 404);
  });

  it("is an image of 16 KiB at most, told by what it holds", async () => {
    const padded = (bytes: number) =>
      Buffer.concat([png, Buffer.alloc(bytes - png.length)]).toString("base64");
    const { id } = bodyOf(await addMarked(padded(largest)), 201).details;
    const field = "idp.idp.mark";
    const tooLarge = { code: 3, reason: "VALIDATION_FAILED", field };
    assertRefused((await addMarked(padded(largest + 1))).refusal, tooLarge);
    assertRefused((await patch(id, { mark: padded(largest + 1) })).refusal, tooLarge);
    const noImage = { code: 3, reason: "MARK_NOT_AN_IMAGE", field };
    const svg = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>").toString("base64");
    assertRefused((await addMarked(svg)).refusal, noImage);
    assertRefused((await patch(id, { mark: svg })).refusal, noImage);
    bodyOf(await world.peer.remove(`/idps/${id}`));
  });

  it("is its owner's to change: an organization that inherits the provider may not", async () => {
    const { id } = bodyOf(await addMarked(mark), 201).details;
    const organization = await world.peer.addOrganization();
    const path = `/idps/forge_b/${id}?ctx.org_id=${organization}`;
    const { refusal } = await world.peer.patch(path, { idp: { mark: "" } });
    assertRefused(refusal, { code: 9, reason: "INHERITED_READ_ONLY" });
    assert.match(JSON.stringify(refusal), /idp\.idp\.mark/);
    assert.equal(await markOf(id), mark);
  });
});
