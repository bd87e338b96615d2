import { createPrivateKey, generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import type { Message } from "@bufbuild/protobuf";
import { invalidField } from "../../errors.ts";
import { onlySecretOf, onlySecretReader } from "../../eventstore/secret-store.ts";
import { type IdpType, type ProviderType, providerTypes } from "./provider-types.ts";

export const idpSecretRef = onlySecretOf("idp", "idp_secret");

/**
 * Reads what the service proves itself with to a provider: the client secret, the bind password, the private key of
 * Social B as PEM, and for SAML the private key (PKCS #8, PEM) that requests are signed with, which every SAML provider
 * has. Undefined for a public client, for an anonymous bind, for JWT, and once the provider is gone.
 */
export const idpSecretReader = onlySecretReader(idpSecretRef);

/**
 * The secret that a configuration, or a patch of one, brings.
 *
 * @throws INVALID_ARGUMENT IDP_PRIVATE_KEY_INVALID
 */
export function givenSecret(type: IdpType, config: Message | undefined): Uint8Array | undefined {
  const { patch, secret: name }: ProviderType = providerTypes[type];
  const field = patch.fields.find((each) => each.name === name);
  const given: unknown = field && config && Reflect.get(config, field.localName);
  if (given === undefined) return undefined;
  const secret = typeof given === "string" ? Buffer.from(given) : (given as Uint8Array);
  if (type === "social_b") requireEcKey(secret, `idp.config.${name}`);
  return secret;
}

const newKeyPair = promisify(generateKeyPair);

/** The key that a new SAML provider's requests are signed with; other types bring their secrets along. */
export async function madeSecret(type: IdpType): Promise<Uint8Array | undefined> {
  if (type !== "saml") return undefined;
  const { privateKey } = await newKeyPair("rsa", { modulusLength: 2048 });
  return Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" }));
}

function requireEcKey(pem: Uint8Array, field: string): void {
  let curve: string | undefined;
  try {
    curve = createPrivateKey(Buffer.from(pem)).asymmetricKeyDetails?.namedCurve;
  } catch {
    // What cannot be read is of no curve.
  }
  if (curve === "prime256v1") return;
  throw invalidField(
    field,
    "IDP_PRIVATE_KEY_INVALID",
    "must be a private key of the curve P-256, PKCS #8 as PEM",
  );
}
