import { text } from "node:stream/consumers";
import { checkImportedHash, verifyImportedHash } from "../crypto/imported-hash.ts";
import { DomainError, invalidArgument } from "../errors.ts";
import { parse, readText } from "./migrate.ts";
import { asList, asObject, asText } from "./migrate/record.ts";

export type VerifyOptions = {
  file: string;
  user: string | undefined;
  /** `-` stands for standard input. */
  password: string | undefined;
};

/** Whether an import would work, in figures and in words. */
export type Verdict = { holds: boolean; result: object; words: string };

type Found = { userId: string; names: string[]; hash: string };

/**
 * Proves that an import would work, before anything is sent: with a password, that it is the one of the user's hash;
 * without, that every hash of the file can be verified here.
 *
 * @throws INVALID_ARGUMENT USER_UNKNOWN, HASH_MISSING, USER_MISSING, and what a hash is refused for
 */
export async function verifyImport(options: VerifyOptions): Promise<Verdict> {
  const users = usersIn(parse(readText(options.file), options.file));
  if (options.password === undefined) return judgeAll(users);
  const { user } = options;
  if (user === undefined) {
    throw invalidArgument("USER_MISSING", "--password needs --user <id, user name or address>");
  }
  const found = users.find(({ userId, names }) => userId === user || names.includes(user));
  if (found === undefined) throw invalidArgument("USER_UNKNOWN", `no user ${user} is in the file`);
  if (found.hash === "") throw invalidArgument("HASH_MISSING", `${user} comes without a hash`);
  const password =
    options.password === "-" ? (await text(process.stdin)).replace(/\r?\n$/, "") : options.password;
  checkImportedHash(found.hash, "hashedPassword.value");
  const matches = await verifyImportedHash(password, found.hash);
  const words = matches ? "the password fits" : "the password does not fit";
  return { holds: matches, result: { userId: found.userId, matches }, words };
}

function judgeAll(users: Found[]): Verdict {
  const refused = users.flatMap(({ userId, hash }) => {
    try {
      if (hash !== "") checkImportedHash(hash, "hashedPassword.value");
      return [];
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return [{ userId, reason: error.reason, message: error.message }];
    }
  });
  const withHash = users.filter(({ hash }) => hash !== "").length;
  const counts = `${users.length} users, ${withHash} with a hash, of which ${refused.length} cannot be taken`;
  const lines = refused.map((each) => `\n  ${each.userId}: ${each.message} (${each.reason})`);
  return {
    holds: refused.length === 0,
    result: { users: users.length, withHash, refused },
    words: `${counts}${lines.join("")}`,
  };
}

function usersIn(body: unknown): Found[] {
  const data = asObject(member(body, "dataOrgs", "data_orgs"));
  return asList(data["orgs"]).flatMap((org) =>
    asList(member(org, "humanUsers", "human_users")).map((record): Found => {
      const user = asObject(asObject(record)["user"]);
      const hashed = asObject(member(user, "hashedPassword", "hashed_password"));
      const userName = asText(member(user, "userName", "user_name"));
      return {
        userId: asText(member(record, "userId", "user_id")),
        names: [userName, asText(asObject(user["email"])["email"])],
        hash: asText(hashed["value"]),
      };
    }),
  );
}

/** A member in either spelling of its name. */
const member = (of: unknown, ...names: string[]): unknown =>
  names.map((name) => asObject(of)[name]).find((value) => value !== undefined);
