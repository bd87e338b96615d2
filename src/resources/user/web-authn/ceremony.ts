import type { JsonObject } from "@bufbuild/protobuf";
import type { UserVerification } from "./challenges.ts";
import { type BrowserAnswer, originFor, readBrowserAnswer } from "./client-data.ts";

// 80 ms of loading that few starts need.
const library = () => import("@simplewebauthn/server");
const encodings = () => import("@simplewebauthn/server/helpers");

// EdDSA, ES256, RS256: what authenticators in use know (COSE algorithms).
const algorithms = [-8, -7, -257];
// Of RSA keys of 8192 bits; larger ones only cost.
const mostKeyBytes = 1_100;
const mostIdBytes = 1_023;
const timeout = 5 * 60_000;

export type AuthenticatorAttachment = "platform" | "cross-platform";

type Known = { credentialId: string; transports: string[] };
type Asked = { challenge: string; domain: string };
/** `related`: origins that may answer beside those of the domain. */
type Expected = Asked & { related: readonly string[] };

/** What `navigator.credentials.create` is to be called with. Attestation is not asked for. */
export async function creationOptions(
  { challenge, domain }: Asked,
  wanted: {
    /** Tells nothing of the user: authenticators keep it in clear. At most 64 bytes. */
    userHandle: Uint8Array;
    name: string;
    displayName: string;
    attachment?: AuthenticatorAttachment | undefined;
    /** What the user has already. */
    exclude: Known[];
    /** It is all that its owner logs in by: it says whose it is, and knows who uses it. */
    isOnlyWay?: boolean;
    /** The browser makes it by itself: it says whose it is, as its owner is asked for it by no list. */
    isConditional?: boolean;
  },
): Promise<JsonObject> {
  const { generateRegistrationOptions } = await library();
  const { attachment, isOnlyWay = false, isConditional = false } = wanted;
  const options = await generateRegistrationOptions({
    rpName: domain,
    rpID: domain,
    userID: Uint8Array.from(wanted.userHandle),
    userName: wanted.name,
    userDisplayName: wanted.displayName,
    challenge: Uint8Array.from(Buffer.from(challenge, "base64url")),
    timeout,
    attestationType: "none",
    excludeCredentials: wanted.exclude.map(named),
    authenticatorSelection: {
      residentKey: isOnlyWay || isConditional ? "required" : "preferred",
      userVerification: isOnlyWay ? "required" : "preferred",
      ...(attachment === undefined ? {} : { authenticatorAttachment: attachment }),
    },
    supportedAlgorithmIDs: algorithms,
  });
  return asJson(options);
}

/** What `navigator.credentials.get` is to be called with. */
export async function requestOptions(
  { challenge, domain }: Asked,
  { allow, userVerification }: { allow: Known[]; userVerification: UserVerification },
): Promise<JsonObject> {
  const { generateAuthenticationOptions } = await library();
  const options = await generateAuthenticationOptions({
    rpID: domain,
    challenge: Uint8Array.from(Buffer.from(challenge, "base64url")),
    timeout,
    allowCredentials: allow.map(named),
    userVerification,
  });
  return asJson(options);
}

const named = ({ credentialId: id, transports }: Known) => ({ id, transports });
// Members that are undefined are none.
const asJson = (options: object): JsonObject => JSON.parse(JSON.stringify(options)) as JsonObject;

/** What was registered. Bytes are base64url. */
export type CreatedCredential = {
  credentialId: string;
  publicKey: string;
  transports: string[];
  signCount: number;
  /** The authenticator knew who used it, by a PIN or a part of the body. */
  isUserVerified: boolean;
  /** The model of the authenticator, a UUID. Nothing proves it: it is for people to read. */
  aaguid?: string;
};

const noModel = "00000000-0000-0000-0000-000000000000";

/**
 * What a browser made to register, checked as WebAuthn Level 3 7.1 says; undefined when it does not hold. No attestation
 * is asked for, so none is judged: certificates that come along are not even read. What a browser makes by itself needs nobody to be
 * there (7.1 step 15).
 */
export async function verifyCreation(
  json: JsonObject,
  asked: Expected & { userVerification: string; isConditional: boolean },
): Promise<CreatedCredential | undefined> {
  const { challenge, domain, related, userVerification, isConditional } = asked;
  const answer = readBrowserAnswer(json);
  if (answer === undefined) return undefined;
  const { verifyRegistrationResponse } = await library();
  try {
    const origin = originFor(answer.clientDataJSON, { domain, related });
    if (origin === undefined) return undefined;
    const { registrationInfo: made } = await verifyRegistrationResponse({
      response: {
        ...credentialOf(answer),
        response: {
          clientDataJSON: answer.clientDataJSON,
          attestationObject: await withoutAttestation(answer.attestationObject),
        },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: domain,
      requireUserPresence: !isConditional,
      requireUserVerification: userVerification === "required",
      supportedAlgorithmIDs: algorithms,
    });
    if (made === undefined) return undefined;
    const { id: credentialId, publicKey, counter: signCount } = made.credential;
    if (credentialId !== answer.id || publicKey.length > mostKeyBytes) return undefined;
    if (Buffer.byteLength(credentialId, "base64url") > mostIdBytes) return undefined;
    return {
      credentialId,
      publicKey: Buffer.from(publicKey).toString("base64url"),
      transports: answer.transports,
      signCount,
      isUserVerified: made.userVerified,
      ...(made.aaguid === noModel ? {} : { aaguid: made.aaguid }),
    };
  } catch {
    // The library throws for all that is wrong with what the browser sent, also for what cannot be read.
    return undefined;
  }
}

export type StoredCredential = Omit<CreatedCredential, "isUserVerified" | "aaguid">;

/**
 * What a browser made to log in, checked as WebAuthn Level 3 7.2 says; undefined when it does not hold, also when the
 * counter of signatures shows that the credential was copied.
 */
export async function verifyAssertion(
  json: JsonObject,
  { challenge, domain, related }: Expected,
  {
    credential,
    userVerification,
  }: { credential: StoredCredential; userVerification: UserVerification },
): Promise<{ signCount: number; isUserVerified: boolean } | undefined> {
  const answer = readBrowserAnswer(json);
  if (answer === undefined || answer.id !== credential.credentialId) return undefined;
  const { verifyAuthenticationResponse } = await library();
  try {
    const origin = originFor(answer.clientDataJSON, { domain, related });
    if (origin === undefined) return undefined;
    const { clientDataJSON, authenticatorData, signature } = answer;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...credentialOf(answer),
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: domain,
      credential: {
        id: credential.credentialId,
        publicKey: Uint8Array.from(Buffer.from(credential.publicKey, "base64url")),
        counter: credential.signCount,
      },
      requireUserVerification: userVerification === "required",
    });
    const { newCounter: signCount, userVerified: isUserVerified } = authenticationInfo;
    return verified ? { signCount, isUserVerified } : undefined;
  } catch {
    // As above.
    return undefined;
  }
}

const credentialOf = ({ id, rawId, type }: BrowserAnswer) => ({
  id,
  rawId,
  // The library refuses every other type.
  type: type as "public-key",
  clientExtensionResults: {},
});

async function withoutAttestation(attestationObject: string): Promise<string> {
  const { decodeAttestationObject, isoCBOR } = await encodings();
  const bytes = Uint8Array.from(Buffer.from(attestationObject, "base64url"));
  const authData = decodeAttestationObject(bytes).get("authData");
  const none = new Map<string, string | Uint8Array | Map<string, string>>([
    ["fmt", "none"],
    ["attStmt", new Map()],
    ["authData", authData],
  ]);
  return Buffer.from(isoCBOR.encode(none)).toString("base64url");
}
