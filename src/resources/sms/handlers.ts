import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetSMSProviderSchema,
  PatchSMSProvider,
} from "#gen/idsvc/resources/sms/v3alpha/sms_provider_pb.ts";
import type { SMSProviderService } from "#gen/idsvc/resources/sms/v3alpha/sms_provider_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { providerCalls, toSearch, type SeenProvider } from "../messageprovider/index.ts";
import { toDetails, toListDetails } from "../object/details.ts";
import { toState } from "../object/filters.ts";
import { newConfig, patchedConfig, type SmsConfig } from "./config.ts";
import { sms } from "./storage.ts";

export function smsHandlers(deps: Deps): Handlers<typeof SMSProviderService> {
  const { db, checkUrl } = deps;
  const calls = providerCalls(deps, sms.storage);
  const { queries } = calls;
  const requireAllowed = (wanted: Pick<PatchSMSProvider, "http" | "gatewayUrl">) => {
    const { http, gatewayUrl = "" } = wanted;
    if (http !== undefined) checkUrl(http.url, "sms_provider.http.url");
    if (gatewayUrl !== "") checkUrl(gatewayUrl, "sms_provider.gateway_url");
  };
  const answer = ({ written, ...key }: { written: Written; signingKey?: string }) => ({
    details: toDetails(written),
    ...key,
  });

  return {
    async createSMSProvider({ smsProvider: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the provider");
      requireAllowed(wanted);
      const { description, token } = wanted;
      const facts = { description, statePolicy: "inherit", config: newConfig(wanted) } as const;
      return answer(await calls.create(scope, facts, token));
    },

    async patchSMSProvider({ id, smsProvider: patch }, scope) {
      if (patch === undefined) throw new Error("validation requires the patch");
      requireAllowed(patch);
      const { description, token: secret, rotateSigningKey: rotatesSigningKey } = patch;
      const config = (before: SmsConfig) => patchedConfig(before, patch);
      const wanted = { description, secret, rotatesSigningKey, config };
      return answer(await calls.patch(scope, id, { ...wanted, statePolicy: undefined, given: [] }));
    },

    async getSMSProvider({ id }, scope) {
      const row = await queries.find(scope, id);
      const seen = await queries.see(row, queries.contextOf(scope, row));
      return { smsProvider: toGetSmsProvider(seen) };
    },

    deleteSMSProvider: async ({ id }, scope) => ({
      details: toDetails(await calls.remove(scope, id)),
    }),

    async searchSMSProviders(asked, scope) {
      const found = await queries.search(calls.contextNamed(scope), toSearch(db, asked));
      const { sortingColumn } = asked;
      const result = found.rows.map(toGetSmsProvider);
      return { details: toListDetails(found), sortingColumn, result };
    },

    activateSMSProvider: async ({ id }, scope) => ({
      details: toDetails(await calls.turn(scope, id, "activate")),
    }),

    deactivateSMSProvider: async ({ id }, scope) => ({
      details: toDetails(await calls.turn(scope, id, "deactivate")),
    }),
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
