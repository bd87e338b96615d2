// Run: shared
import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { featureReader } from "../../../src/settings/feature/index.ts";
import { idpReader } from "../../../src/resources/idp/index.ts";
import { idpSecretReader } from "../../../src/resources/idp/secret.ts";
import { idpConfigs } from "../../api/samples/idp.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startIdpPeer } from "./idp-peer.ts";

const service = await startIdpPeer();
const { deps, get, instanceId, patch, post } = service;
after(() => service[Symbol.asyncDispose]());

const on = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};
const reader = idpReader(deps.db, featureReader(deps.db, on));
const secretOf = idpSecretReader(deps.db, deps.secrets);
const secretFields = ["client_secret", "bind_password", "private_key"];
const configOf = (type: string): JsonObject => idpConfigs[type]?.config ?? {};
const readable = (config: JsonObject) =>
  Object.fromEntries(Object.entries(config).filter(([field]) => !secretFields.includes(field)));

const create = async (type: string, config: JsonObject) => {
  const body = { idp: { name: uniqueName(type) }, config };
  return String(bodyOf(await post(`/idps/${type}`, body), 201).details.id);
};
const read = async (type: string, id: string) => bodyOf(await get(`/idps/${type}/${id}`)).idp;

/** A change of each type by which its secret would be sent elsewhere, or less protected. */
const moves: Record<string, [string, JsonObject][]> = {
  oidc: [["issuer", { issuer: "https://evil.test" }]],
  oauth: [
    ["authorization_endpoint", { authorization_endpoint: "https://evil.test/authorize" }],
    ["token_endpoint", { token_endpoint: "https://evil.test/token" }],
    ["user_endpoint", { user_endpoint: "https://evil.test/user" }],
  ],
  jwt: [],
  ldap: [
    ["servers", { servers: ["ldaps://evil.test"] }],
    ["start_tls", { start_tls: true }],
    ["root_ca", { root_ca: "AAAA" }],
  ],
  directory_a: [["issuer", { issuer: "https://evil.test" }]],
  forge_a: [["issuer", { issuer: "https://evil.test" }]],
  forge_a_es: [["token_endpoint", { token_endpoint: "https://evil.test/token" }]],
  forge_b: [["issuer", { issuer: "https://evil.test" }]],
  forge_b_self_hosted: [["issuer", { issuer: "https://evil.test" }]],
  social_a: [["issuer", { issuer: "https://evil.test" }]],
  social_b: [["issuer", { issuer: "https://evil.test" }]],
  saml: [],
};

for (const [type, { patch: change }] of Object.entries(idpConfigs)) {
  describe(`an identity provider of the type ${type}`, () => {
    it("is read as it was created, but for its secret, and with what counts where nothing is given", async () => {
      const id = await create(type, configOf(type));
      const { config } = (await read(type, id)).idp;
      const wanted = readable(configOf(type));
      const given = Object.fromEntries(Object.keys(wanted).map((field) => [field, config[field]]));
      assert.deepEqual(given, wanted);
      for (const field of secretFields) assert.equal(config[field], undefined);
      const provider = await reader.provider(instanceId, id);
      assert.equal(provider?.type, type);
    });

    it("takes changes of its configuration, which replace what they name", async () => {
      const id = await create(type, configOf(type));
      const before = (await read(type, id)).idp.config;
      bodyOf(await patch(`/idps/${type}/${id}`, { config: change }));
      const { config } = (await read(type, id)).idp;
      const changed = Object.keys({ ...before, ...config }).filter(
        (field) => JSON.stringify(before[field]) !== JSON.stringify(config[field]),
      );
      assert.deepEqual(changed, Object.keys(readable(change)));
    });

    for (const [field, move] of moves[type] ?? []) {
      it(`D64: needs a new secret where ${field} changes`, async () => {
        const id = await create(type, configOf(type));
        const { refusal } = await patch(`/idps/${type}/${id}`, { config: move });
        assertRefused(refusal, { code: 9, reason: "IDP_SECRET_REQUIRED" });
        assert.equal(refusal.metadata["field"], `idp.config.${field}`);
        const secret = secretFields.find((name) => name in configOf(type)) ?? "";
        const brought = { ...move, [secret]: configOf(type)[secret] ?? "" };
        bodyOf(await patch(`/idps/${type}/${id}`, { config: brought }));
        assert.deepEqual((await read(type, id)).idp.config[field], move[field]);
      });
    }
  });
}

it("D64: knows for every type what its secret depends on", () =>
  assert.deepEqual(Object.keys(moves).toSorted(), Object.keys(idpConfigs).toSorted()));

describe("the secret of an identity provider", () => {
  it("is what was given last, and nothing where none was", async () => {
    const id = await create("oidc", configOf("oidc"));
    const stored = async (of: string) => (await secretOf(instanceId, of))?.toString();
    assert.equal(await stored(id), "a secret");
    bodyOf(await patch(`/idps/oidc/${id}`, { config: { client_secret: "another" } }));
    await deps.db.catchUp();
    assert.equal(await stored(id), "another");
    bodyOf(await service.remove(`/idps/${id}`));
    await deps.db.catchUp();
    assert.equal(await stored(id), undefined);
    const { client_secret: _, ...open } = configOf("oidc");
    assert.equal(await stored(await create("oidc", open)), undefined);
  });

  it("is a key of its own for SAML, made by the service", async () => {
    const [one, two] = [
      await create("saml", configOf("saml")),
      await create("saml", configOf("saml")),
    ];
    const [first, second] = [await secretOf(instanceId, one), await secretOf(instanceId, two)];
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(createPrivateKey(Buffer.from(first)).asymmetricKeyType, "rsa");
    assert.notDeepEqual(first, second);
  });

  it("must be a key of the curve P-256 for Social B", async () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
    const wrong = String(privateKey.export({ type: "pkcs8", format: "pem" }));
    for (const text of ["no key", wrong]) {
      const config = { ...configOf("social_b"), private_key: Buffer.from(text).toString("base64") };
      const { refusal } = await post("/idps/social_b", { config });
      const field = "idp.config.private_key";
      assertRefused(refusal, { code: 3, reason: "IDP_PRIVATE_KEY_INVALID", field });
    }
  });
});

describe("a configuration", () => {
  it("of SAML has its metadata in one of two ways: what is given replaces the other", async () => {
    const id = await create("saml", configOf("saml"));
    const metadata_xml = Buffer.from("<EntityDescriptor/>").toString("base64");
    bodyOf(await patch(`/idps/saml/${id}`, { config: { metadata_xml } }));
    const { config } = (await read("saml", id)).idp;
    assert.equal(config.metadata_xml, metadata_xml);
    assert.equal(config.metadata_url, undefined);
  });

  it("of LDAP may do without a bind: then it needs no password", async () => {
    const { bind_dn: _, bind_password: __, ...anonymous } = configOf("ldap");
    const id = await create("ldap", anonymous);
    assert.equal((await read("ldap", id)).idp.config.bind_dn, "");
    bodyOf(await patch(`/idps/ldap/${id}`, { config: { servers: ["ldaps://other.test"] } }));
  });

  it("of LDAP keeps the attributes that a patch does not name", async () => {
    const id = await create("ldap", configOf("ldap"));
    bodyOf(
      await patch(`/idps/ldap/${id}`, { config: { attributes: { phone_attribute: "mobile" } } }),
    );
    assert.deepEqual((await read("ldap", id)).idp.config.attributes, {
      ...Object(configOf("ldap")["attributes"]),
      phone_attribute: "mobile",
    });
  });

  const without = (type: string, field: string) => {
    const { [field]: _, ...config } = configOf(type);
    return config;
  };
  const invalid: [string, JsonObject, string][] = [
    ["oidc", without("oidc", "issuer"), "idp.config.issuer"],
    ["oauth", without("oauth", "token_endpoint"), "idp.config.token_endpoint"],
    ["oauth", without("oauth", "id_attribute"), "idp.config.id_attribute"],
    ["jwt", without("jwt", "keys_endpoint"), "idp.config.keys_endpoint"],
    ["ldap", without("ldap", "servers"), "idp.config.servers"],
    ["ldap", without("ldap", "attributes"), "idp.config.attributes"],
    ["ldap", without("ldap", "bind_password"), "idp.config"],
    ["ldap", { ...configOf("ldap"), servers: ["http://ldap.test"] }, "idp.config.servers[0]"],
    ["ldap", { ...configOf("ldap"), timeout: "31s" }, "idp.config.timeout"],
    ["saml", {}, "idp.config.metadata"],
    ["social_b", without("social_b", "key_id"), "idp.config.key_id"],
  ];
  for (const [type, config, field] of invalid) {
    it(`of the type ${type} is refused for ${field}`, async () => {
      const { refusal } = await post(`/idps/${type}`, { config });
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("of LDAP always names the attribute that holds the id", async () => {
    const id = await create("ldap", configOf("ldap"));
    const { refusal } = await patch(`/idps/ldap/${id}`, {
      config: { attributes: { id_attribute: "" } },
    });
    assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field: "idp.config" });
  });
});
