import assert from "node:assert/strict";
import { Book } from "./book.ts";
import { type Browser, browserOf } from "./browser.ts";
import { buildWorld } from "./build-world.ts";
import { callJson, type Service } from "./service.ts";
import { allRoles, base, type World } from "./world.ts";

let worlds = 0;

/**
 * @param role of the attacker: a machine and a person; "nobody" for a person without one, "stranger" for no account at all
 */
export async function makeWorld(service: Service, role: string): Promise<World> {
  const domain = `w${process.pid}x${worlds++}.localhost`;
  const host = `${domain}:${service.port}`;
  const created = await callJson(service, {
    host: `localhost:${service.port}`,
    token: await service.systemToken(),
    path: `${base}/instances`,
    body: {
      name: domain,
      domain,
      organization: { name: "Home" },
      machine: { username: "root", name: "Root" },
    },
  });
  assert.equal(created.status, 201, JSON.stringify(created.json));
  const { details, organization_id, personal_access_token } = Object(created.json);
  const book = new Book();
  const browsers = new Map<string, Browser>();
  const world: World = {
    service,
    host,
    instanceId: String(details.id),
    ownerToken: String(personal_access_token),
    role: allRoles.includes(role) ? role : undefined,
    book,
    browsers,
    places: [],
    allowed: new Set(),
    attackers: new Set(["attacker", "robot"]),
    people: new Map(),
    consents: new Map(),
    led: new Map(),
    clients: new Map(),
    used: new Set(),
    samples: 0,
    isCarelessTaken: false,
    focus: new Map(),
    subjects: new Map(),
    passkeys: new Map(),
    touched: new Map(),
    about: new Map(),
    mailOf: new Map(),
    codeAskedBy: new Map(),
    browser(of) {
      const known = browsers.get(of) ?? browserOf(service, host);
      browsers.set(of, known);
      return known;
    },
    asOwner: (method, path, body) =>
      callJson(service, {
        host,
        token: world.ownerToken,
        method,
        path: `${path.startsWith("/set") ? "" : base}${path}`,
        ...(body === undefined ? {} : { body }),
      }),
  };
  await buildWorld(world, String(organization_id), role);
  return world;
}
