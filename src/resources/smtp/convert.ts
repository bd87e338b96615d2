import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetSMTPProviderSchema,
  PatchSMTPProvider,
} from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_pb.ts";
import type { SeenProvider } from "../messageprovider/index.ts";
import { toSeen, toStatePolicy } from "../object/reuse/convert.ts";
import { joinHost, type MailConfig } from "./config.ts";

/** A provider as a context sees it: who inherits it learns what its mails tell anyway, not how it is reached. */
export const toGetSmtpProvider = ({
  row,
  seen,
}: SeenProvider<MailConfig>): MessageInitShape<typeof GetSMTPProviderSchema> => {
  const { config, description } = row;
  const { senderAddress, senderName, replyToAddress } = config;
  return {
    ...toSeen(seen),
    smtpProvider: {
      description,
      senderAddress,
      senderName,
      replyToAddress,
      ...(seen.parent === undefined ? toReach(config) : {}),
      statePolicy: toStatePolicy(seen.statePolicy),
    },
  };
};

const toReach = (config: MailConfig) =>
  config.kind === "http"
    ? { http: { url: config.url } }
    : { host: joinHost(config), tls: config.tls, user: config.user };

const fields = {
  description: "description",
  senderAddress: "sender_address",
  senderName: "sender_name",
  replyToAddress: "reply_to_address",
  host: "host",
  tls: "tls",
  user: "user",
  password: "password",
  http: "http",
} as const;

/** The fields of a patch that only the context may set that the provider belongs to. */
export function givenFields(patch: PatchSMTPProvider): string[] {
  const given = Object.entries(fields).filter(([name]) => Reflect.get(patch, name) !== undefined);
  const names = given.map(([, field]) => field);
  return patch.rotateSigningKey ? [...names, "rotate_signing_key"] : names;
}
