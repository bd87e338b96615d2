import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetSMSProviderSchema,
  PatchSMSProvider,
} from "#gen/idsvc/resources/sms/v3alpha/sms_provider_pb.ts";
import type { SMSProviderService } from "#gen/idsvc/resources/sms/v3alpha/sms_provider_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { providerCalls, type SeenProvider } from "../messageprovider/index.ts";
import { toDetails } from "../object/details.ts";
import { listing } from "../object/queries.ts";
import { toState } from "../object/filters.ts";
import { newConfig, patchedConfig, type SmsConfig, sms } from "./config.ts";

export function smsHandlers(deps: Deps): Handlers<typeof SMSProviderService> {
  const { checkUrl } = deps;
  const calls = providerCalls(deps, sms.storage);
  const { queries } = calls;
  const requireAllowed = (wanted: Pick<PatchSMSProvider, "http" | "gatewayUrl">) => {
    const { http, gatewayUrl = "" } = wanted;
    if (http !== undefined) checkUrl(http.url, "sms_provider.http.url");
    if (gatewayUrl !== "") checkUrl(gatewayUrl, "sms_provider.gateway_url");
  };

  return {
    async createSMSProvider({ smsProvider: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the provider");
      requireAllowed(wanted);
      const { description, token } = wanted;
      const facts = { description, statePolicy: "inherit", config: newConfig(wanted) } as const;
      return calls.create(scope, facts, token);
    },

    async patchSMSProvider({ id, smsProvider: patch }, scope) {
      if (patch === undefined) throw new Error("validation requires the patch");
      requireAllowed(patch);
      const { description, token: secret, rotateSigningKey: rotatesSigningKey } = patch;
      const config = (before: SmsConfig) => patchedConfig(before, patch);
      const wanted = { description, secret, rotatesSigningKey, config };
      return calls.patch(scope, id, { ...wanted, statePolicy: undefined, given: [] });
    },

    getSMSProvider: async (request, scope) => ({
      smsProvider: toGetSmsProvider(await calls.get(request, scope)),
    }),

    searchSMSProviders: listing(queries.search, toGetSmsProvider),
    activateSMSProvider: calls.turn("activate"),
    deactivateSMSProvider: calls.turn("deactivate"),
    deleteSMSProvider: calls.remove,
  };
}

const toGetSmsProvider = ({
  row,
  seen,
}: SeenProvider<SmsConfig>): MessageInitShape<typeof GetSMSProviderSchema> => {
  const { config, description } = row;
  return {
    details: toDetails(seen),
    state: toState(seen.state),
    smsProvider:
      config.kind === "http"
        ? { description, http: { url: config.url } }
        : {
            description,
            sid: config.sid,
            senderNumber: config.senderNumber,
            gatewayUrl: config.url,
          },
  };
};
