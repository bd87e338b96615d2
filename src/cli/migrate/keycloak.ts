import {
  asList,
  asObject,
  asText,
  type HumanRecord,
  type Migrated,
  type Unknown,
} from "./record.ts";

const longestLanguage = /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/;
const mostMetadata = 100;

/**
 * A user of a realm's export. Passwords move as hashes: PBKDF2 as `$<algorithm>$<iterations>$<salt>$<hash>`, argon2 as a
 * PHC string; authenticator apps with 6 digits, 30 seconds and SHA-1 move as well, attributes as metadata, and links to
 * identity providers whose ids are given.
 */
export function fromKeycloak(value: unknown, idps: IdpsByAlias = new Map()): Migrated {
  const user = asObject(value);
  const left: string[] = [];
  const client = asText(user["serviceAccountClientId"]);
  if (client !== "") return { left: ["service accounts: make a machine user for each"] };
  const [userId, userName] = [asText(user["id"]), asText(user["username"])];
  if (userId === "" || userName === "") return { left: ["users without id or username"] };

  const credentials = asList(user["credentials"]).map(asObject);
  const hashedPassword = passwordOf(credentials, left);
  const otpCode = otpOf(credentials, left);
  const others = credentials.filter(({ type }) => type !== "password" && type !== "otp");
  for (const { type } of others) left.push(`credentials of type ${asText(type) || "unknown"}`);

  const { locale, ...attributes } = asObject(user["attributes"]);
  const language = asText(asList(locale)[0] ?? locale);
  const metadata = metadataOf(attributes, left);
  const [firstName, lastName] = [asText(user["firstName"]), asText(user["lastName"])];
  const email = asText(user["email"]);
  const actions = asList(user["requiredActions"]);
  noteLosses(user, left);
  const links = linksOf(user, idps, left);

  const profile = {
    firstName,
    lastName,
    ...(longestLanguage.test(language) ? { preferredLanguage: language } : {}),
  };
  const record: HumanRecord = {
    userId,
    user: {
      userName,
      ...(firstName + lastName + language === "" ? {} : { profile }),
      ...(email === ""
        ? {}
        : { email: { email, isEmailVerified: user["emailVerified"] === true } }),
      ...(hashedPassword === undefined ? {} : { hashedPassword: { value: hashedPassword } }),
      ...(hashedPassword !== undefined && actions.includes("UPDATE_PASSWORD")
        ? { passwordChangeRequired: true }
        : {}),
      ...(otpCode === undefined ? {} : { otpCode }),
      ...(links.length === 0 ? {} : { idps: links }),
    },
    ...(user["enabled"] === false ? { inactive: true } : {}),
    ...(metadata.length === 0 ? {} : { metadata }),
  };
  return { record, left };
}

/** Lists of a user that have no place in a person's record: what they grant is made anew. */
function noteLosses(user: Unknown, left: string[]): void {
  const lists = {
    realmRoles: "realm roles",
    clientRoles: "client roles",
    groups: "groups",
    clientConsents: "consents",
  };
  for (const [name, what] of Object.entries(lists)) {
    const value = user[name];
    if (Array.isArray(value) ? value.length > 0 : Object.keys(asObject(value)).length > 0) {
      left.push(what);
    }
  }
  for (const action of asList(user["requiredActions"])) {
    if (action !== "UPDATE_PASSWORD") left.push(`required action ${asText(action)}`);
  }
}

/** The id of each provider here, by its alias there. */
export type IdpsByAlias = ReadonlyMap<string, string>;

const mostLinks = 20;

function linksOf(user: Unknown, idps: IdpsByAlias, left: string[]) {
  const links = asList(user["federatedIdentities"])
    .map(asObject)
    .flatMap((identity) => {
      const alias = asText(identity["identityProvider"]);
      const externalUserId = asText(identity["userId"]);
      const configId = idps.get(alias);
      if (configId !== undefined && externalUserId !== "") {
        return [{ configId, externalUserId, displayName: asText(identity["userName"]) }];
      }
      left.push(`links to the identity provider ${alias}: name it with --idp ${alias}=<id>`);
      return [];
    });
  if (links.length > mostLinks) left.push(`links beyond the first ${mostLinks}`);
  return links.slice(0, mostLinks);
}

function passwordOf(credentials: Unknown[], left: string[]): string | undefined {
  const found = credentials.find(({ type }) => type === "password");
  if (found === undefined) return undefined;
  const data = jsonOf(found["credentialData"]);
  const secret = jsonOf(found["secretData"]);
  const algorithm = asText(data["algorithm"]);
  const [salt, value] = [asText(secret["salt"]), asText(secret["value"])];
  const rounds = Number(data["hashIterations"]);
  if (salt !== "" && value !== "" && Number.isInteger(rounds)) {
    if (/^pbkdf2(-sha(224|256|384|512))?$/.test(algorithm)) {
      return `$${algorithm}$${rounds}$${salt}$${value}`;
    }
    if (algorithm === "argon2")
      return argon2Of(asObject(data["additionalParameters"]), { rounds, salt, value });
  }
  left.push(`passwords hashed with ${algorithm || "an unnamed algorithm"}`);
  return undefined;
}

// Its parameters are lists of one text each.
function argon2Of(
  parameters: Unknown,
  { rounds, salt, value }: { rounds: number; salt: string; value: string },
): string {
  const of = (name: string) => asText(asList(parameters[name])[0]);
  const version = of("version") === "1.0" ? 16 : 19;
  const plain = (base64: string) => base64.replaceAll("=", "");
  const cost = `m=${of("memory")},t=${rounds},p=${of("parallelism")}`;
  return `$argon2${of("type") || "id"}$v=${version}$${cost}$${plain(salt)}$${plain(value)}`;
}

function otpOf(credentials: Unknown[], left: string[]): string | undefined {
  const [found, ...more] = credentials.filter(({ type }) => type === "otp");
  for (const _ of more) left.push("second authenticator apps");
  if (found === undefined) return undefined;
  const data = jsonOf(found["credentialData"]);
  const value = asText(jsonOf(found["secretData"])["value"]);
  const isUsual =
    data["subType"] === "totp" &&
    Number(data["digits"]) === 6 &&
    Number(data["period"]) === 30 &&
    data["algorithm"] === "HmacSHA1";
  if (!isUsual || value === "") {
    left.push("authenticator apps other than 6 digits, 30 seconds, SHA-1");
    return undefined;
  }
  // Older exports have the bytes themselves as a text.
  const code = data["secretEncoding"] === "BASE32" ? value : base32(Buffer.from(value));
  if (/^[A-Za-z2-7]{16,}=*$/.test(code)) return code;
  left.push("authenticator apps with secrets shorter than 80 bits");
  return undefined;
}

function metadataOf(attributes: Unknown, left: string[]): { key: string; value: string }[] {
  const all = Object.entries(attributes).flatMap(([key, value]) => {
    const values = asList(value).map(asText);
    const text = values.length > 1 ? JSON.stringify(values) : (values[0] ?? "");
    return text === "" ? [] : [{ key, value: Buffer.from(text).toString("base64") }];
  });
  if (all.length > mostMetadata) left.push(`attributes beyond the first ${mostMetadata}`);
  return all.slice(0, mostMetadata);
}

/** An object that stands as a text in another one. */
function jsonOf(text: unknown): Unknown {
  try {
    return asObject(JSON.parse(asText(text)));
  } catch {
    return {};
  }
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 section 6, without padding. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}
