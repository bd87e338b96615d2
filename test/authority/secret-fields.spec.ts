// Run: shared
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type DescField, type DescFile, type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** Names of fields that hold a secret, whatever they stand in. */
const secretNames =
  /(^|_)(pass|passwords?|passphrase|passcode|pin|secrets?|tokens?|codes?|keys?|seeds?|otp|totp|credentials?|assertions?|nonce|verifier|hash|private|jwt|bearer|cookies?)(_|$)/;

/** What is called like a secret and is none, by the end of its full name; the reason is for whoever adds one. */
const notSecret: [RegExp, string][] = [
  [/_id$/, "the id of something"],
  [/\.public_keys?$/, "the public half"],
  [/\.role_keys?$|\.grant\.v3alpha\.Role\.key$/, "the name of a role"],
  [/Metadata(Request|Entry)?\.key$/, "the name of a value, kept in clear"],
  [
    /\.text\.v3alpha\.\w+\.key(_prefix)?$|\.ChangeType\.key$|\.Language\.key$/,
    "the name of a text",
  ],
  [/\.Import(Success|Error)\w*\.\w+_(keys|idps)$/, "ids of what was imported"],
  [/_endpoint$/, "the address of an endpoint"],
  [/\.id_token_signed_response_alg$/, "the name of an algorithm"],
  [/\.DomainValidation\.token$/, "it is published to prove the domain"],
  [/\.public_key_credential(_(creation|request)_options)?$/, "public keys and challenges"],
];

const files = globSync("gen/idsvc/**/*_pb.ts", { cwd: join(import.meta.dirname, "../..") });

async function messages(): Promise<DescMessage[]> {
  const found: DescMessage[] = [];
  const walk = (some: readonly DescMessage[]) => {
    for (const each of some) {
      found.push(each);
      walk(each.nestedMessages);
    }
  };
  for (const path of files) {
    const exported: Record<string, unknown> = await import(`../../${path}`);
    const file = Object.values(exported).find(
      (each): each is DescFile =>
        typeof each === "object" && each !== null && "kind" in each && each.kind === "file",
    );
    if (file !== undefined) walk(file.messages);
  }
  return found;
}

const textual = new Set<ScalarType | undefined>([ScalarType.STRING, ScalarType.BYTES]);
const open = /^google\.protobuf\.(Struct|Value|ListValue|Any|StringValue|BytesValue)$/;
const settable = /\.settings\.object\.v3alpha\.SetString/;

/** Whether a field can hold a text: itself, or in what stands for a text. */
const holdsText = (field: DescField): boolean =>
  textual.has(field.scalar) ||
  (field.message !== undefined &&
    (open.test(field.message.typeName) || settable.test(field.message.typeName)));

describe("fields that are secret", () => {
  it("say so in the contract, or are known to be none", async () => {
    const all = await messages();
    assert.ok(all.length > 500, "the contract is read");
    const undecided: string[] = [];
    const both: string[] = [];
    for (const { typeName, fields } of all) {
      for (const field of fields.filter(holdsText)) {
        const name = `${typeName}.${field.name}`;
        const isSecret = field.proto.options?.debugRedact === true;
        const isKnown = notSecret.some(([pattern]) => pattern.test(name));
        if (secretNames.test(field.name) && !isSecret && !isKnown) undecided.push(name);
        if (isSecret && isKnown) both.push(name);
      }
    }
    assert.deepEqual(undecided, []);
    assert.deepEqual(both, []);
  });

  it("are such as hold a value: an option on a message would hide what stands beside the secret", async () => {
    for (const { typeName, fields } of await messages()) {
      for (const field of fields) {
        if (field.proto.options?.debugRedact !== true) continue;
        assert.ok(holdsText(field), `${typeName}.${field.name}`);
      }
    }
  });

  it("has a reason for nothing that is not there", async () => {
    const names = (await messages()).flatMap(({ typeName, fields }) =>
      fields.map((field) => `${typeName}.${field.name}`),
    );
    for (const [pattern] of notSecret) {
      assert.ok(
        names.some((name) => pattern.test(name)),
        String(pattern),
      );
    }
  });
});
