import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type GetWebKeySchema,
  type WebKey,
  WebKeyECDSAConfig_ECDSACurve as Curve,
  WebKeyRSAConfig_RSABits as Bits,
  WebKeyRSAConfig_RSAHasher as Hasher,
  type WebKeySchema,
  WebKeyState,
} from "#gen/idsvc/resources/webkey/v3alpha/web_key_pb.ts";
import type { SigningKeyConfig } from "../../crypto/signing-key.ts";
import { toInstanceOwnedDetails } from "../object/details.ts";
import type { WebKeyRow } from "./reader.ts";

const bits = { 2048: Bits.RSA_BITS_2048, 3072: Bits.RSA_BITS_3072, 4096: Bits.RSA_BITS_4096 };
const hashers = {
  SHA256: Hasher.RSA_HASHER_SHA256,
  SHA384: Hasher.RSA_HASHER_SHA384,
  SHA512: Hasher.RSA_HASHER_SHA512,
};
// NOTE: the specification names P-521 after the hash that goes with it.
const curves = {
  P256: Curve.ECDSA_CURVE_P256,
  P384: Curve.ECDSA_CURVE_P384,
  P521: Curve.ECDSA_CURVE_P512,
};
const toState = {
  initial: WebKeyState.INITIAL,
  active: WebKeyState.ACTIVE,
  inactive: WebKeyState.INACTIVE,
} as const;

/** What is not chosen is the smallest of its kind. */
export function toConfig(key: WebKey | undefined): SigningKeyConfig {
  switch (key?.config.case) {
    case "rsa": {
      const wanted = key.config.value;
      const size = ([3072, 4096] as const).find((each) => bits[each] === wanted.bits) ?? 2048;
      const hasher =
        (["SHA384", "SHA512"] as const).find((each) => hashers[each] === wanted.hasher) ?? "SHA256";
      return { type: "rsa", bits: size, hasher };
    }
    case "ecdsa": {
      const wanted = key.config.value.curve;
      const curve = (["P384", "P521"] as const).find((each) => curves[each] === wanted) ?? "P256";
      return { type: "ecdsa", curve };
    }
    case "ed25519":
      return { type: "ed25519" };
    default:
      throw new Error("validation requires the kind of key");
  }
}

export const toGetWebKey = (row: WebKeyRow): MessageInitShape<typeof GetWebKeySchema> => ({
  details: toInstanceOwnedDetails(row),
  config: fromConfig(row.config),
  state: toState[row.state],
});

function fromConfig(config: SigningKeyConfig): MessageInitShape<typeof WebKeySchema> {
  switch (config.type) {
    case "rsa": {
      const value = { bits: bits[config.bits], hasher: hashers[config.hasher] };
      return { config: { case: "rsa", value } };
    }
    case "ecdsa":
      return { config: { case: "ecdsa", value: { curve: curves[config.curve] } } };
    case "ed25519":
      return { config: { case: "ed25519", value: {} } };
  }
}
