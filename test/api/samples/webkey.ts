import { WebKeyService } from "#gen/idsvc/resources/webkey/v3alpha/web_key_service_pb.ts";
import { list, ofService, onId, type Sample, type World } from "./sample.ts";

const unknown = "WEB_KEY_NOT_FOUND";
// The quickest kind to make.
const newWebKey = ({ make }: World) => make("/web_keys", { ed25519: {} });

export const webKeySamples: Record<string, Sample> = ofService(WebKeyService.typeName, {
  CreateWebKey: {
    valid: () => ({ key: { ecdsa: { curve: "ECDSA_CURVE_P384" } } }),
    invalid: { request: { key: { rsa: { bits: 7 } } }, field: "key.rsa.bits" },
    unknown: undefined,
    writes: true,
  },
  ActivateWebKey: onId(unknown, newWebKey),
  DeleteWebKey: onId(unknown, newWebKey),
  ListWebKeys: list,
});
