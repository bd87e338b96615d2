// Run: shared
import { describe } from "node:test";
import {
  base64url,
  filledTo,
  heldService,
  hostileJson,
  listed,
  nested,
  owner,
} from "../support/held.ts";

const mostMs = 250;
const mib = 1024 * 1024;
// What a message may have, less what is around it.
const long = 4 * mib - 4_096;
const { service, costs } = await heldService();
const api = "/resources/v3alpha";
const users = `${api}/users/_search`;

let turn = 0;
const { details } = await service.make("/users", { username: "held", data: { given_name: "Ada" } });
const person = String(Object(details).id);

const call = (what: string, path: string, expected: RegExp, body: () => string, method = "POST") =>
  costs(what, mostMs, () => ({ method, path, headers: owner, body: body() }), expected);

const bad = /^400 .*"reason"/s;

const begun = await service.make(`/users/${person}/webauthn`, { domain: "localhost" });
const ceremony = String(begun["web_auth_n_id"]);

describe("4 MiB of an authenticated caller (J17): JSON", () => {
  for (const [what, text] of Object.entries(hostileJson(long - 1_024))) {
    call(`a search of ${what}`, users, bad, () => text);
    const filter = () => `[{"username":{"username":${text}}}]`;
    call(`a filter of ${what}`, users, bad, filter);
    const user = () => `{"username":"held-${++turn}","data":{"given_name":${text}}}`;
    call(`a user whose data are ${what}`, `${api}/users`, bad, user);
    const texts = () => `[{"key":"password.title","language":"de","set":${text}}]`;
    call(`texts that are ${what}`, "/settings/v3alpha/texts", bad, texts, "PATCH");
  }
});

describe("4 MiB of an authenticated caller (J17): filters", () => {
  const one = '{"in_ids":{"ids":["1"]}}';
  const many = `[${listed(long, () => one)}]`;
  call("many", users, /^400 .*(MALFORMED_JSON|FILTERS_TOO_MANY|VALIDATION_FAILED)/, () => many);
  const few = `[${Array.from({ length: 45_000 }, () => one).join(",")}]`;
  call("forty-five thousand", users, /^400 .*(FILTERS_TOO_MANY|VALIDATION_FAILED)/, () => few);
  const either = `[{"or":{"filters":${few}}}]`;
  call(
    "forty-five thousand in one",
    users,
    /^400 .*(FILTERS_TOO_MANY|VALIDATION_FAILED)/,
    () => either,
  );
  const deep = `[${nested(1_000, '{"not":{"filter":', "}}", one)}]`;
  call("in filters", users, /^400 .*(FILTER_TOO_DEEP|MALFORMED_JSON)/, () => deep);
  const ids = `[{"in_ids":{"ids":[${listed(1.5 * mib, (at) => `"${at}"`)}]}}]`;
  call("of many ids", users, /^400 .*(MALFORMED_JSON|VALIDATION_FAILED)/, () => ids);
  const fewer = `[{"in_ids":{"ids":[${Array.from({ length: 180_000 }, () => '"1"').join(",")}]}}]`;
  call("of a hundred and eighty thousand ids", users, /^400 .*VALIDATION_FAILED/, () => fewer);
});

describe("4 MiB of an authenticated caller (J17): lists", () => {
  const targets = Array.from({ length: 180_000 }, () => '"1"').join(",");
  call(
    "targets of an execution",
    `${api}/executions`,
    /^400 .*VALIDATION_FAILED.*targets/s,
    () => `{"condition":{"request":{"all":true}},"targets":[${targets}]}`,
  );
  // The same in binary: a field, its length, a digit.
  const binary = Buffer.concat([
    Buffer.from([0x0a, 0x04, 0x0a, 0x02, 0x20, 0x01]),
    Buffer.alloc(long - (long % 3), Buffer.from([0x12, 0x01, 0x31])),
  ]);
  const wrapped = Buffer.concat([Buffer.from([0x0a, ...varint(binary.length)]), binary]);
  costs(
    "targets of an execution, in binary",
    mostMs,
    () => ({
      path: "/idsvc.resources.action.v3alpha.ActionService/PutExecution",
      headers: { ...owner, "content-type": "application/proto" },
      body: wrapped,
    }),
    /^400 /,
  );
  const texts = Array.from({ length: 45_000 }, () => '{"key":"a","language":"de","set":"b"}');
  const path = "/settings/v3alpha/texts";
  call("texts", path, /^400 .*VALIDATION_FAILED/, () => `[${texts.join(",")}]`, "PATCH");
});

describe("4 MiB of an authenticated caller (J17): what is compiled", () => {
  const text = (set: string) => JSON.stringify([{ key: "password.title", language: "de", set }]);
  const pieces = { braces: "{", plurals: "{n, plural, one {", quotes: "'", links: "http://a " };
  for (const [what, piece] of Object.entries(pieces)) {
    const path = "/settings/v3alpha/texts";
    call(`a text of ${what}`, path, bad, () => text(filledTo(long, piece)), "PATCH");
    call(`a short text of ${what}`, path, /^[24]00 /, () => text(filledTo(900, piece)), "PATCH");
  }
  const schema = (parts: string) => `{"type":"held-${++turn}","schema":{"type":"object",${parts}}}`;
  const invalid = /^400 .*(USER_SCHEMA_INVALID|MALFORMED_JSON)/;
  const pattern = JSON.stringify(filledTo(60_000, "(a*)*"));
  const schemas: Record<string, string> = {
    "a pattern": `"properties":{"a":{"type":"string","pattern":${pattern}}}`,
    "many properties": `"properties":{${listed(long, (at) => `"p${at}":{"type":"string"}`)}}`,
    "eight thousand properties": `"properties":{${Array.from({ length: 4_000 }, (_, at) => `"p${at}":{"type":"string"}`).join(",")}}`,
    "schemas in schemas": `"not":${nested(1_000, '{"not":', "}", "{}")}`,
    "many patterns": `"patternProperties":{${listed(long, (at) => `"(a*)*${at}":{}`)}}`,
    "references to references": `"$defs":{${Array.from({ length: 500 }, (_, at) => `"d${at}":{"allOf":[{"$ref":"#/$defs/d${at + 1}"},{"$ref":"#/$defs/d${at + 1}"}]}`).join(",")},"d500":{}},"properties":{"a":{"$ref":"#/$defs/d0"}}`,
  };
  for (const [what, parts] of Object.entries(schemas)) {
    const path = `${api}/user_schemas`;
    const expected = what === "eight thousand properties" ? /^[24]0/ : invalid;
    call(`a schema of ${what}`, path, expected, () => schema(parts));
  }
});

describe("4 MiB of an authenticated caller (J17): CBOR, keys and XML", () => {
  const client = { type: "webauthn.create", challenge: "AA", origin: "http://localhost" };
  const kinds = { lists: 0x81, maps: 0xa1, tags: 0xc1, "endless texts": 0x7f, zeros: 0 };
  for (const [what, byte] of Object.entries(kinds)) {
    for (const length of [700_000, 2 * mib]) {
      const response = {
        attestationObject: base64url(Buffer.alloc(length, byte)),
        clientDataJSON: base64url(JSON.stringify(client)),
      };
      const public_key_credential = { id: "AA", rawId: "AA", type: "public-key", response };
      const verify = { public_key_credential, web_auth_n_name: "key" };
      costs(
        `a passkey of ${length} bytes of ${what}`,
        mostMs,
        () => ({
          path: `${api}/users/${person}/webauthn/${ceremony}/_verify`,
          headers: owner,
          body: JSON.stringify(verify),
        }),
        /^40[0-9] .*WEB_AUTH_N/s,
      );
    }
  }
  const pem = `-----BEGIN PUBLIC KEY-----\n${filledTo(long, "AAAA")}\n-----END PUBLIC KEY-----`;
  costs(
    "a key of a machine",
    mostMs,
    () => ({
      path: `${api}/users/${person}/public_keys`,
      headers: owner,
      body: JSON.stringify({ public_key: base64url(pem).slice(0, long) }),
    }),
    bad,
  );
  const xml = (length: number, piece: string) =>
    Buffer.from(filledTo(length, piece, ["<r>", "</r>"])).toString("base64");
  for (const [length, piece] of [
    [3 * mib - 8_192, "<a/>"],
    [256 * 1024 - 8, "<a>"],
    [7_900, "<a/>"],
  ] as const) {
    costs(
      `metadata of ${length} bytes of ${piece}`,
      mostMs,
      () => ({
        path: `${api}/idps/saml`,
        headers: owner,
        body: JSON.stringify({
          idp: { name: `held ${++turn}` },
          config: { metadata_xml: xml(length, piece) },
        }),
      }),
      /^(201|40\d) /,
    );
  }
});

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left % 128) | 0x80);
  }
}
