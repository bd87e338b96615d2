// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf, type ResourcePeer, startPeer, uniqueName } from "../support/peer.ts";

const base = "/management/v1";

let peer: ResourcePeer;
before(async () => {
  peer = await startPeer();
});
after(() => peer[Symbol.asyncDispose]());

const setUp = (human: JsonObject) => {
  const org = { name: uniqueName("organization") };
  const path = `${base}/orgs/_setup`;
  return peer.peer.rest("POST", path, { org, human }, { token: peer.app.token });
};
const person = (more: JsonObject = {}): JsonObject => ({
  userName: uniqueName("person").replace(" ", "-"),
  profile: { firstName: "Ada", lastName: "Lovelace" },
  email: { email: "ada@example.test", isEmailVerified: true },
  ...more,
});

describe("a person who is set up or imported", () => {
  it("takes first and last names of 200 characters each, which are shown as they are", async () => {
    const [firstName, lastName] = ["é".repeat(200), "😀".repeat(200)];
    const human = person({ profile: { firstName, lastName } });
    const { userId } = bodyOf(await setUp(human));
    const { data } = bodyOf(await peer.get(`/users/${userId}`)).user.user;
    assert.deepEqual(data, { given_name: firstName, family_name: lastName });
    const sorted = { filters: [{ in_ids: { ids: [userId] } }] };
    bodyOf(await peer.post("/users/_search", sorted.filters));
  });

  const addresses: Record<string, [sent: string, stored: string]> = {
    "a quoted local part": ['"ada lovelace"@example.test', '"ada lovelace"@example.test'],
    "a local part in needless quotes": [
      '"ada.l\\ovelace"@example.test',
      "ada.lovelace@example.test",
    ],
    "needless quoted pairs": ['"\\a\\ b"@example.test', '"a b"@example.test'],
    "an at sign within quotes": ['"ada@home"@example.test', '"ada@home"@example.test'],
    "a domain literal": ["ada@[192.0.2.1]", "ada@[192.0.2.1]"],
    "a domain literal of IPv6": ['"ada l"@[IPv6:2001:db8::1]', '"ada l"@[IPv6:2001:db8::1]'],
  };
  for (const [what, [email, stored]] of Object.entries(addresses)) {
    it(`takes an e-mail address with ${what} (RFC 2822 section 3.4.1)`, async () => {
      const human = person({ email: { email, isEmailVerified: true } });
      const { userId } = bodyOf(await setUp(human));
      const path = `/users/${userId}`;
      assert.equal(bodyOf(await peer.get(path)).user.user.contact.email.address, stored);
      const again = { contact: { email: { address: email, is_verified: true } } };
      const earlier = bodyOf(await peer.get(path)).user.details.sequence;
      assert.equal(bodyOf(await peer.patch(path, again)).details.sequence, earlier);
    });
  }

  const phones = {
    "visual separators": "+41-(79)-123.45.67",
    "the scheme of RFC 3966": "tel:+41-79-123-45-67",
    "the scheme in capitals": "TEL:+41791234567",
    "a separator in front": "+(41)791234567",
  };
  for (const [what, phone] of Object.entries(phones)) {
    it(`takes a phone number with ${what}`, async () => {
      const human = person({ phone: { phone, isPhoneVerified: true } });
      const { userId } = bodyOf(await setUp(human));
      const { contact } = bodyOf(await peer.get(`/users/${userId}`)).user.user;
      assert.equal(contact.phone.number, "+41791234567");
    });
  }

  const wrongAddresses = [
    '"a<b>"@example.test',
    '"a\r\nb"@example.test',
    '""@example.test',
    '"a"b@example.test',
    "ada@[x@evil.test]",
    "ada@[300.1.1.1]",
    "ada lovelace@example.test",
    "(comment)ada@example.test",
    "ada @example.test",
  ];
  const wrongNumbers = ["tel:+41791234567;ext=12", "tel:0791234567", "++41791234567", "+41 79 x"];
  const refused: [JsonObject, string][] = [
    ...wrongAddresses.map((email): [JsonObject, string] => [
      { email: { email } },
      "VALIDATION_FAILED",
    ]),
    ...wrongNumbers.map((phone): [JsonObject, string] => [
      { phone: { phone } },
      "VALIDATION_FAILED",
    ]),
    [{ phone: { phone: "+4179123456789012" } }, "PHONE_INVALID"],
  ];
  for (const [more, reason] of refused) {
    it(`is refused with ${JSON.stringify(more)}`, async () => {
      const { status, refusal } = await setUp(person(more));
      assert.equal(status, 400);
      assert.equal(refusal?.reason, reason);
    });
  }
});
