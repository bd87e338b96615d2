import { asList, asObject, asText, type Migrated, type Unknown } from "./record.ts";

const connection = "auth0";

/** The hashes of a passwords file by the exact address that they belong to. */
export function passwordsByEmail(lines: Iterable<unknown>): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const line of lines) {
    const { email, passwordHash } = asObject(line);
    if (asText(email) !== "" && asText(passwordHash) !== "") {
      hashes.set(asText(email), asText(passwordHash));
    }
  }
  return hashes;
}

/** A user of an export of users; their password is the one that the passwords file has for their address. */
export function fromAuth0(
  value: unknown,
  hashes: ReadonlyMap<string, string>,
  { emailVerified }: { emailVerified: boolean },
): Migrated {
  const user = asObject(value);
  const [userId, email] = [asText(user["user_id"]), asText(user["email"])];
  if (userId === "" || email === "") return { left: ["users without user_id or email"] };
  const left: string[] = [];
  noteLosses(user, left);
  const name = asText(user["name"]) || email;
  const hash = hashes.get(email);
  const isLocal = userId.startsWith(`${connection}|`) || !userId.includes("|");
  if (hash === undefined && isLocal)
    left.push("passwords: the passwords file has none for the address");
  const nickName = asText(user["nickname"]);
  return {
    record: {
      userId,
      user: {
        userName: email,
        profile: {
          firstName: asText(user["given_name"]) || name,
          lastName: asText(user["family_name"]) || name,
          ...(nickName === "" ? {} : { nickName }),
        },
        email: { email, isEmailVerified: emailVerified },
        ...(hash === undefined ? {} : { hashedPassword: { value: hash } }),
      },
      ...(user["blocked"] === true ? { inactive: true } : {}),
    },
    left,
  };
}

function noteLosses(user: Unknown, left: string[]): void {
  const others = asList(user["identities"])
    .map((identity) => asText(asObject(identity)["provider"]))
    .filter((provider) => provider !== "" && provider !== connection);
  for (const provider of others) left.push(`logins with ${provider}`);
  if (Object.keys(asObject(user["app_metadata"])).length > 0) left.push("app_metadata");
  if (Object.keys(asObject(user["user_metadata"])).length > 0) left.push("user_metadata");
  if (asList(user["multifactor"]).length > 0) left.push("second factors");
}
