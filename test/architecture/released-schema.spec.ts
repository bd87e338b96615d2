// Run: shared
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { refuseBreakingChanges } from "../../.ci/breaking.ts";
import { bufIn } from "../../.ci/generate.ts";

const root = resolve(import.meta.dirname, "../..");
const target = "proto/idsvc/resources/action/v3alpha/target.proto";
let clone = "";

/** What a clone has of the schema: nothing that only a generator leaves in a working tree. */
before(() => {
  clone = mkdtempSync(join(tmpdir(), "idsvc-clone-"));
  const asked = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
  const schema = ["proto", "third_party", "buf.yaml"];
  const files = execFileSync("git", [...asked, ...schema], { cwd: root, encoding: "utf8" });
  for (const file of files.split("\0").filter((each) => each !== "")) {
    cpSync(join(root, file), join(clone, file));
  }
});
after(() => rmSync(clone, { recursive: true }));

/** Changes files of the clone for as long as something is tried. */
function changed(changes: readonly Change[], then: () => void): void {
  const unchanged = changes.map(
    ({ file }) => [file, readFileSync(join(clone, file), "utf8")] as const,
  );
  try {
    for (const { file, change } of changes) {
      const text = readFileSync(join(clone, file), "utf8");
      const other = change(text);
      assert.notEqual(other, text);
      writeFileSync(join(clone, file), other);
    }
    then();
  } finally {
    for (const [file, text] of unchanged) writeFileSync(join(clone, file), text);
  }
}

type Change = { file: string; change: (text: string) => string };

describe("the schema of a clone, before anything is generated", () => {
  it("builds, so that clients of any language can be made of it", () => {
    bufIn(clone, ["build"], "pipe");
  });

  it("passes the linter", () => {
    bufIn(clone, ["lint"], "pipe");
  });

  it("keeps what the last release promised", () => {
    refuseBreakingChanges(clone);
  });
});

describe("a change of the schema that breaks clients of the last release is refused", () => {
  const breaks: readonly [string, string, (text: string) => string, RegExp][] = [
    [
      "a field that is gone",
      target,
      (text) => text.replace(/\n  \/\/[^\n]*\n  string name = \d+[^;]*;/, "\n"),
      /field "\d+" with name "name" .*was deleted/,
    ],
    [
      "a field of another number",
      target,
      (text) => text.replace(/(string url = )\d+/, "$199"),
      /with name "url"/,
    ],
    [
      "a method that is gone",
      "proto/idsvc/resources/action/v3alpha/action_service.proto",
      (text) => text.replace(/\n {2}rpc GetTarget\([^]*?\n {2}\}\n/, "\n"),
      /RPC "GetTarget" .*was deleted/,
    ],
    [
      // The release had it in another file of the package, which is no break (decision 0330).
      "a message that its package has no more",
      "proto/idsvc/resources/user/v3alpha/idp_link.proto",
      (text) => text.replaceAll("IDPLinkFilter", "LinkFilter"),
      /message "IDPLinkFilter" was deleted from package/,
    ],
  ];
  // All in one look at the schema, of which each takes a second and a half.
  let said = "";
  before(() => {
    const changes = breaks.map(([, file, change]) => ({ file, change }));
    changed(changes, () =>
      assert.throws(
        () => refuseBreakingChanges(clone),
        ({ message }: Error) => {
          said = message;
          return /breaks what the last release \(proto\/baseline\) promised/.test(said);
        },
      ),
    );
  });

  for (const [what, , , says] of breaks)
    it(`${what}, and it is named`, () => assert.match(said, says));

  it("and one that adds a field is not", () => {
    const field = "$&  // What is new.\n  string fresh = 99;\n";
    const change = (text: string) => text.replace(/message Target \{\n/, field);
    changed([{ file: target, change }], () => refuseBreakingChanges(clone));
  });
});
