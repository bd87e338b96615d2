import type { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { listing } from "../object/queries.ts";
import { type MailProvider, providerCalls } from "../messageprovider/index.ts";
import { fromStatePolicy } from "../object/reuse/convert.ts";
import { newConfig, patchedConfig, smtp } from "./config.ts";
import { givenFields, toGetSmtpProvider } from "./convert.ts";
import { mailProviders } from "./providers.ts";

/** Sends a test message by a provider, whether or not it is in force. @throws what keeps it from being taken */
export type SendTest = (
  at: { instanceId: string; organizationId: string; channel: "email"; to: string },
  provider: MailProvider,
) => Promise<void>;

export function smtpHandlers(deps: Deps, sendTest: SendTest): Handlers<typeof SMTPProviderService> {
  const { checkUrl } = deps;
  const calls = providerCalls(deps, smtp.storage);
  const { queries } = calls;
  const usable = mailProviders(deps);
  const requireAllowed = (http: { url: string } | undefined) => {
    if (http !== undefined) checkUrl(http.url, "smtp_provider.http.url");
  };

  return {
    async createSMTPProvider({ smtpProvider: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the provider");
      requireAllowed(wanted.http);
      const { description } = wanted;
      const statePolicy = fromStatePolicy(wanted.statePolicy);
      const facts = { description, statePolicy, config: newConfig(wanted) };
      return calls.create(scope, facts, wanted.password);
    },

    async patchSMTPProvider({ id, smtpProvider: patch }, scope) {
      if (patch === undefined) throw new Error("validation requires the patch");
      requireAllowed(patch.http);
      const { description, password: secret, rotateSigningKey: rotatesSigningKey } = patch;
      const wanted = {
        description,
        secret,
        rotatesSigningKey,
        given: givenFields(patch),
        statePolicy:
          patch.statePolicy === undefined ? undefined : fromStatePolicy(patch.statePolicy),
        config: (before: Parameters<typeof patchedConfig>[0]) => patchedConfig(before, patch),
      };
      return calls.patch(scope, id, wanted);
    },

    getSMTPProvider: async (request, scope) => ({
      smtpProvider: toGetSmtpProvider(await calls.get(request, scope)),
    }),

    searchSMTPProviders: listing(queries.search, toGetSmtpProvider),
    activateSMTPProvider: calls.turn("activate"),
    deactivateSMTPProvider: calls.turn("deactivate"),
    deleteSMTPProvider: calls.remove,

    async testSMTPProvider({ id, test }, scope) {
      const row = await queries.find(scope, id);
      queries.contextOf(scope, row);
      const { instanceId } = scope;
      const to = test?.receiverAddress ?? "";
      const at = { instanceId, organizationId: "", channel: "email", to } as const;
      await sendTest(at, await usable.use(row));
      return {};
    },
  };
}
