import assert from "node:assert/strict";
import { bodyOf } from "../../support/peer.ts";
import {
  aName,
  dialogOf,
  done,
  go,
  load,
  rowOf,
  type Task,
  titled,
  within,
  type World,
} from "../tasks.ts";
import { peer } from "../visits.ts";

async function webApp({ organizationId, projectId }: World): Promise<{ id: string; name: string }> {
  const name = aName("shop");
  const oidc = {
    redirect_uris: ["https://shop.test/cb"],
    response_types: ["OIDC_RESPONSE_TYPE_CODE"],
    grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
    app_type: "OIDC_APP_TYPE_WEB",
    auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
  };
  const app = { name, project_id: projectId, oidc };
  const made = bodyOf(await peer.post("/apps", app, within(organizationId)), 201);
  return { id: String(made.details.id), name };
}

async function roleOf({ projectId }: World): Promise<string> {
  const key = aName("editor");
  const role = { project_id: projectId, key, display_name: key };
  bodyOf(await peer.post("/project_roles", role), 201);
  return key;
}

export const projects: readonly Task[] = [
  {
    name: "9 gives a role to many people, who are pasted as CSV",
    role: "ORG_USER_MANAGER",
    async run({ page, open, confirm, follow, fill, check }, world) {
      const key = await roleOf(world);
      const people = Array.from({ length: 3 }, () => aName("crowd"));
      for (const username of people) await peer.addPerson({ username }, world.organizationId);
      await load(page, `/projects/${world.projectId}`);
      await titled(page, "Nest");
      await follow("Access");
      await open("Grant roles to many people");
      const table = people.map((name) => `${name},Ada,Lovelace`).join("\n");
      await fill("People", `${table}\nnobody-is-called-so,No,Body`);
      await check(key);
      await confirm("Grant roles to many people (4)");
      await dialogOf(page).getByText("Done: 3 / 4").waitFor();
      await dialogOf(page).getByRole("rowheader", { name: "nobody-is-called-so" }).waitFor();
      // What was refused is in the form again, with the roles that were chosen.
      await confirm("Try again");
      const lines = dialogOf(page).getByLabel("People", { exact: true });
      assert.equal(await lines.inputValue(), "nobody-is-called-so");
      assert.ok(await dialogOf(page).getByLabel(key, { exact: true }).isChecked());
      await confirm("Cancel");
      const filters = [{ project_id: world.projectId }];
      const { result } = bodyOf(await peer.post("/user_grants/_search", filters));
      const given = result.filter(({ user_grant }: { user_grant: { role_keys: string[] } }) =>
        user_grant.role_keys.includes(key),
      );
      assert.equal(given.length, 3);
    },
  },
  {
    name: "10 grants a role of a project to an organization",
    role: "PROJECT_OWNER",
    async run({ page, open, confirm, follow, fill, check }, world) {
      const key = await roleOf(world);
      const partner = await peer.addOrganization();
      await load(page, `/projects/${world.projectId}`);
      await titled(page, "Nest");
      await follow("Access");
      await open("Grant to an organization");
      // Who may not read other organizations gives the ID that they were told.
      await fill("Organization", partner);
      await check(key);
      await confirm("Grant to an organization");
      await done(page, "Grant to an organization");
      await rowOf(page, key).waitFor();
    },
  },
  {
    name: "11 creates applications of several kinds and copies their configuration",
    role: "PROJECT_OWNER",
    async run({ page, open, confirm, fill, check }, { projectId }) {
      const kinds = [
        ["Web application with a server", "https://web.test/cb", "openid-client"],
        ["Pages that call an API from the browser", "https://spa.test/cb", "oidc-client-ts"],
        ["Pages that call an API from the browser", "http://localhost:3999/cb", "oidc-client-ts"],
        ["App on a phone or computer", "http://127.0.0.1/cb", "OpenID Connect"],
      ] as const;
      for (const [kind, address, shown] of kinds) {
        const name = aName("app");
        await go(page, `/projects/${projectId}`);
        await titled(page, "Nest");
        await open("Create an application");
        await fill("Name", name);
        await check(kind);
        await fill(/^Redirect addresses \(/, address);
        await confirm("Create an application");
        // A secret is shown once, where there is one, and so is what is amiss.
        const isWithoutTls = address.startsWith("http://localhost");
        if (isWithoutTls) {
          await dialogOf(page).getByText("A redirect address begins with http:").first().waitFor();
        }
        if (kind.startsWith("Web") || isWithoutTls) await confirm("Close");
        await titled(page, name);
        const guide = page.getByRole("figure").filter({ hasText: shown }).first();
        await guide.waitFor();
        await page.getByText(address, { exact: false }).first().waitFor();
        await page.getByRole("button", { name: "Copy: OpenID Connect" }).waitFor();
        // Pages and apps on devices have no secret to speak of.
        const ofSecret = page.getByText("Its secret is not in here", { exact: false });
        assert.equal(await ofSecret.count(), kind.startsWith("Web") ? 1 : 0);
      }
    },
  },
  {
    name: "12 makes another secret of an application",
    role: "PROJECT_OWNER",
    async run({ page, open, confirm, follow }, world) {
      const { id, name } = await webApp(world);
      await go(page, `/applications/${id}`);
      await titled(page, name);
      await follow("Credentials");
      await open("Make another secret");
      await confirm("Make another secret");
      await dialogOf(page).getByText("This is shown once", { exact: false }).waitFor();
      await confirm("Close");
      await done(page, "Make another secret");
    },
  },
  {
    name: "13 mends a redirect address by the request that failed",
    role: "PROJECT_OWNER",
    async run({ page, open, confirm, fill }, world) {
      const { id, name } = await webApp(world);
      const failed = `${peer.issuer}/oauth/v2/authorize?${new URLSearchParams({
        client_id: "1",
        redirect_uri: "https://shop.test/callback",
      })}`;
      await go(page, `/applications/${id}`);
      await open(`Edit: ${name}`);
      await fill(/^Redirect addresses \(/, `https://shop.test/cb\n${failed}`);
      await confirm("Save");
      await done(page, "Edit");
      const { app } = bodyOf(await peer.get(`/apps/${id}`));
      assert.deepEqual(app.app.oidc.redirect_uris, [
        "https://shop.test/cb",
        "https://shop.test/callback",
      ]);
    },
  },
  {
    name: "14 creates a role of a project",
    role: "PROJECT_OWNER",
    async run({ page, open, confirm, follow, fill }, { projectId }) {
      await go(page, `/projects/${projectId}`);
      await follow("Roles");
      await open("Create a role");
      const key = aName("role");
      await fill("Key", key);
      await fill("Display name", "Reader");
      await confirm("Create a role");
      await done(page, "Create a role");
      await page.getByRole("rowheader", { name: key }).waitFor();
    },
  },
];
