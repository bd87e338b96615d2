// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@bufbuild/protobuf";
import { beside } from "../support/beside.ts";
import { noticesSent } from "../support/notices.ts";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import {
  hashOfOld,
  human,
  importPeer,
  newName,
  passwordOfOld,
  recordsOfWhole,
  wholeOrg,
} from "./import-peer.ts";

let peer: ResourcePeer;
let imports: ReturnType<typeof importPeer>;
before(async () => {
  peer = await startPeer();
  imports = importPeer(peer);
});
after(() => peer[Symbol.asyncDispose]());

const canLogIn = async (user_id: string, password: string) => {
  const checks = { user: { user_id }, password: { password } };
  return (await peer.post("/sessions", { checks })).status === 201;
};

describe("a bulk import (G4)", () => {
  it("creates an organization and all that is its own, and says so", async () => {
    const name = newName("fleet");
    const { job, errors, success } = await imports.bring([wholeOrg(name)]);
    assert.deepEqual(errors, []);
    assert.equal(job.state, "IMPORT_STATE_COMPLETED");
    assert.equal(job.created, String(recordsOfWhole));
    const [org] = success.orgs;
    assert.equal(org.orgId, name);
    assert.deepEqual(org.humanUserIds, [`${name}-ada`, `${name}-bob`]);
    assert.deepEqual(org.projectRoles, [`${name}-project/driver`]);
    assert.deepEqual(org.machineKeys, [`${name}-key`]);

    const { organization } = bodyOf(await peer.get(`/organizations/${name}`)).organization;
    assert.equal(organization.domain, `${name}.example`);
    const { user } = bodyOf(await peer.get(`/users/${name}-ada`)).user;
    assert.equal(user.data.display_name, "Ada L.");
    assert.equal(user.external_id, "E-4711");
    assert.equal(user.contact.phone.number, "+41791234567");
    assert.equal(user.authenticators.totps.length, 1);
    assert.ok(await canLogIn(`${name}-ada`, passwordOfOld));
    assert.equal(await canLogIn(`${name}-ada`, "another"), false);
    const grants = await peer.post("/user_grants/_search", [
      { in_user_ids: { ids: [`${name}-ada`, `${name}-bob`] } },
    ]);
    assert.equal(bodyOf(grants).result.length, 2);
    const members = await peer.post("/memberships/_search", [
      { in_user_ids: { ids: [`${name}-bob`] } },
    ]);
    assert.equal(bodyOf(members).result.length, 3);
    assert.equal(bodyOf(await peer.get(`/apps/${name}-web`)).app.client_id, `${name}-client`);
  });

  it("does not matter in which order records stand, and twice changes nothing", async () => {
    const name = newName("order");
    const { org, orgId, ...lists } = wholeOrg(name);
    const turned = Object.fromEntries(Object.entries(lists).toReversed());
    const orgs = [{ orgId: String(orgId), ...turned, org: org ?? null }];
    const { job, errors } = await imports.bring(orgs);
    assert.deepEqual(errors, []);
    assert.equal(job.created, String(recordsOfWhole));
    const events = await peer.eventCount();
    const again = await imports.bring(orgs);
    assert.deepEqual(again.errors, []);
    assert.deepEqual([again.job.created, again.job.existed], ["0", String(recordsOfWhole)]);
    assert.equal(await peer.eventCount(), events);
  });

  it("foresees in a dry run what will be, and writes nothing", async () => {
    const name = newName("fleet");
    const org: JsonObject = {
      ...wholeOrg(name),
      humanUsers: [human(`${name}-ada`), human(`${name}-bob`), human(`${name}-bob`), human("")],
      userGrants: [
        { userId: `${name}-ada`, projectId: `${name}-project`, roleKeys: ["driver"] },
        { userId: `${name}-bob`, projectId: `${name}-project`, roleKeys: ["king"] },
        { userId: "nobody", projectId: `${name}-project`, roleKeys: ["driver"] },
      ],
    };
    const again = { orgId: `${name}-2`, org: { name: `The ${name}` } };
    const same = {
      orgId: name,
      humanUsers: [{ ...human(`${name}-bob-2`, { userName: `${name}-bob` }) }],
    };
    const orgs = [org, again, same];
    const events = await peer.eventCount();
    const forecast = await imports.bring(orgs, "?dryRun=true");
    assert.equal(forecast.job.dryRun, true);
    assert.equal(await peer.eventCount(), events);
    assert.equal((await peer.get(`/organizations/${name}`)).status, 404);
    const real = await imports.bring(orgs);
    assert.deepEqual(await imports.report(forecast.job.id), await imports.report(real.job.id));
    assert.deepEqual(real.errors.map(({ reason }: { reason: string }) => reason).sort(), [
      "ORGANIZATION_NAME_TAKEN",
      "ROLE_KEY_UNKNOWN",
      "USERNAME_TAKEN",
      "USER_NOT_FOUND",
      "VALIDATION_FAILED",
    ]);
  });

  it("takes both spellings of keys, and what old exports carry along", async () => {
    const name = newName("snake");
    const body = {
      timeout: "10m",
      await_response: true,
      data_orgs: {
        orgs: [
          {
            org_id: name,
            org: { name },
            triggerActions: [],
            human_users: [
              {
                user_id: `${name}-ada`,
                user: {
                  user_name: "ada",
                  profile: { first_name: "Ada", last_name: "L", somethingElse: 1 },
                  hashed_password: { value: hashOfOld },
                },
              },
            ],
          },
        ],
      },
    };
    const { status, json } = await imports.raw(JSON.stringify(body));
    assert.equal(status, 200, JSON.stringify(json));
    assert.deepEqual(json.errors, []);
    assert.deepEqual(json.success.orgs[0].humanUserIds, [`${name}-ada`]);
    assert.ok(await canLogIn(`${name}-ada`, passwordOfOld));
  });

  it("takes lines, an organization in several of them, compressed or not", async () => {
    const name = newName("lines");
    const lines = [
      { orgId: name, org: { name } },
      { orgId: name, humanUsers: [human(`${name}-1`)] },
      { orgId: name, humanUsers: [human(`${name}-2`), human(`${name}-3`)] },
    ].map((line) => JSON.stringify(line));
    const plain = await imports.raw(`${lines.slice(0, 2).join("\n")}\n`, "", {
      "content-type": "application/x-ndjson",
    });
    assert.equal(plain.json.job?.created, "2", JSON.stringify(plain.json));
    const packed = await imports.raw(gzipSync(lines.join("\n")), "", {
      "content-encoding": "gzip",
    });
    assert.deepEqual([packed.json.job.created, packed.json.job.existed], ["2", "2"]);
  });

  it("links accounts at providers that are there, each once", async () => {
    const name = newName("linked");
    const provider = await peer.post("/idps/forge_b", {
      idp: { name },
      config: { client_id: "id", client_secret: "secret", issuer: "https://forge.example" },
    });
    const idpId = String(bodyOf(provider, 201).details.id);
    const link = (configId: string, externalUserId: string) => ({
      idps: [{ configId, externalUserId, displayName: "ada at the forge" }],
    });
    const orgs = [
      {
        orgId: name,
        org: { name },
        humanUsers: [
          human(`${name}-ada`, link(idpId, "1")),
          human(`${name}-bob`),
          human(`${name}-eve`, link(idpId, "1")),
          human(`${name}-tom`, link("404", "2")),
        ],
        userLinks: [
          { userId: `${name}-bob`, idpId, providedUserId: "3", providedUserName: "bob" },
          { userId: `${name}-ada`, idpId, providedUserId: "4" },
          { userId: `${name}-bob`, idpId, providedUserId: "3" },
          { userId: "404", idpId, providedUserId: "5" },
        ],
      },
    ];
    const forecast = await imports.bring(orgs, "?dryRun=true");
    const { job, errors } = await imports.bring(orgs);
    assert.deepEqual(
      errors.map(({ id, reason }: Record<string, string>) => [id, reason]),
      [
        [`${name}-eve`, "IDP_LINK_TAKEN"],
        [`${name}-tom`, "IDP_NOT_FOUND"],
        [`${name}-ada/${idpId}`, "IDP_LINK_EXISTS"],
        [`404/${idpId}`, "USER_NOT_FOUND"],
      ],
    );
    assert.deepEqual(await imports.report(forecast.job.id), await imports.report(job.id));
    const { user } = bodyOf(await peer.get(`/users/${name}-ada`)).user;
    const [linked] = user.authenticators.identity_providers;
    assert.deepEqual([linked.idp_id, linked.user_id], [idpId, "1"]);
    const again = await imports.bring([
      { orgId: name, userLinks: orgs[0]?.userLinks.slice(0, 1) ?? [] },
    ]);
    assert.equal(again.job.existed, "1");
    const exported = await imports.call("POST", "/export", { orgIds: [name] });
    const parts = exported.body
      .toString()
      .split("\n")
      .filter((line) => line !== "");
    assert.deepEqual(
      parts.flatMap((line) => Object(JSON.parse(line)).userLinks),
      [
        {
          userId: `${name}-ada`,
          idpId,
          providedUserId: "1",
          providedUserName: "ada at the forge",
        },
        { userId: `${name}-bob`, idpId, providedUserId: "3", providedUserName: "bob" },
      ],
    );
  });

  it("sends nobody a mail, unless the record asks for it", async () => {
    const name = newName("told");
    const email = { email: "ada@example.test", isEmailVerified: false };
    const humanUsers = [
      human(`${name}-silent`, { email }),
      { ...human(`${name}-invited`, { email }), notify: true },
      { ...human(`${name}-asked`, { email, password: "correct horse battery" }), notify: true },
    ];
    const { errors } = await imports.bring([{ orgId: name, org: { name }, humanUsers }]);
    assert.deepEqual(errors, []);
    const sql = `select aggregate_id, type from events where type like '%code.added' and owner_id = '${name}' order by aggregate_id`;
    const { rows } = await beside(peer.app.kernel, sql);
    assert.deepEqual(rows, [
      [`${name}-asked`, "user.human.email.code.added"],
      [`${name}-invited`, "user.human.initialization.code.added"],
    ]);
  });

  it("takes messages in the shape that names their parts, as people then read them", async () => {
    const name = newName("letters");
    const letter = {
      language: "de",
      title: "Hallo",
      preHeader: "Neu",
      greeting: "Grüezi, wie geht's?",
      text: "{neu}: {{ .LoginName }} ist <da>.",
      buttonText: "Los",
      footerText: "Bis bald",
    };
    const phone = { language: "de", greeting: "Sali", text: "{{.Code}} ist der Code." };
    const org = {
      orgId: name,
      org: { name },
      initMessages: [letter],
      verifyPhoneMessages: [phone],
      domainClaimedMessages: [{ language: "de", text: "Weg ist {{.Domain}}." }],
      passwordResetMessages: [{ language: "de", buttonText: "Los" }],
    };
    const profile = { firstName: "Ada", lastName: "L", preferredLanguage: "de" };
    const email = { email: `${name}@example.test`, isEmailVerified: false };
    const humanUsers = [{ ...human(`${name}-ada`, { email, profile }), notify: true }];
    const { job, errors } = await imports.bring([{ ...org, humanUsers }]);
    assert.deepEqual(errors, []);
    // A message of which nothing is used changes nothing.
    assert.deepEqual([job.created, job.existed], ["5", "1"]);
    await noticesSent(peer.app);
    const headers = { host: "localhost:8080" };
    const html = await (await fetch(`${peer.app.url}/ui/dev/mail`, { headers })).text();
    const [mail = ""] = html.split("<article").filter((each) => each.includes(email.email));
    assert.match(mail, /<h2>Hallo<\/h2>/);
    assert.match(
      mail,
      new RegExp(
        `Grüezi, wie geht&#39;s\\?\n\n\\{neu\\}: ${name}-ada\\S* ist &lt;da&gt;\\.\n\nBis bald`,
      ),
    );
    const path = `/settings/v3alpha/texts?ctx.org_id=${name}&language=de&key_prefix=message.`;
    const { texts } = bodyOf(await peer.peer.rest("GET", path, undefined, peer.app));
    // What is set here itself has no owner beside it.
    const set = texts.filter((each: object) => !("owner" in each));
    assert.deepEqual(set.map(({ key }: { key: string }) => key).toSorted(), [
      "message.domainClaimed.text",
      "message.invitation.subject",
      "message.invitation.text",
      "message.verifyPhone.sms",
    ]);
  });

  it("is also at /admin/v1", async () => {
    const name = newName("admin");
    const { token } = peer.app;
    const body = { dataOrgs: { orgs: [{ orgId: name, org: { name } }] } };
    const answer = await peer.peer.rest("POST", "/admin/v1/import", body, { token });
    assert.equal(bodyOf(answer).job.created, "1");
  });
});
