import { type ImportedMessage, ImportedMessageSchema } from "#gen/idsvc/management/v1/data_pb.ts";
import {
  propertyOfText,
  requireLanguage,
  requireSayable,
  textSettings,
} from "../../settings/policy/text.ts";
import type { TextKey } from "../../texts/texts.ts";
import type { Kind } from "./kind.ts";
import { policy } from "./policies.ts";

type Parts = { subject?: TextKey; text: TextKey };

// The texts that each list of messages stands for.
const partsOf = {
  initMessages: { subject: "message.invitation.subject", text: "message.invitation.text" },
  passwordResetMessages: {
    subject: "message.passwordReset.subject",
    text: "message.passwordReset.text",
  },
  verifyEmailMessages: { subject: "message.verifyEmail.subject", text: "message.verifyEmail.text" },
  verifyPhoneMessages: { text: "message.verifyPhone.sms" },
  domainClaimedMessages: {
    subject: "message.domainClaimed.subject",
    text: "message.domainClaimed.text",
  },
  passwordlessRegistrationMessages: {
    subject: "message.passkey.subject",
    text: "message.passkey.text",
  },
} as const satisfies Record<string, Parts>;

export const messageLists = Object.keys(partsOf);

/** Messages in the shape that names their parts one by one; here they are texts of the text settings. */
export const messageKinds = (): Kind[] =>
  Object.entries<Parts>(partsOf).map(([list, parts]) =>
    policy(
      list,
      ImportedMessageSchema,
      textSettings,
      (message) => textsOf(message, parts),
      ({ language }) => language,
    ),
  );

function textsOf(message: ImportedMessage, { subject, text }: Parts): Record<string, string> {
  const { language } = message;
  requireLanguage("language", language);
  const said = [
    { field: "subject", key: subject, set: message.subject || message.title },
    {
      field: "text",
      key: text,
      set: (subject === undefined
        ? [message.text]
        : [message.greeting, message.text, message.footerText]
      )
        .filter((each) => each !== "")
        .join("\n\n"),
    },
  ];
  return Object.fromEntries(
    said.flatMap(({ field, key, set }) => {
      if (key === undefined || set === "") return [];
      const written = toIcu(set);
      requireSayable(field, { language, key }, written);
      return [[propertyOfText(language, key), written]];
    }),
  );
}

const names: ReadonlyMap<string, string> = new Map([
  ["LoginName", "loginName"],
  ["PreferredLoginName", "loginName"],
  ["Domain", "domain"],
  ["Code", "code"],
]);

/** A template with `{{.Name}}` as an ICU message; all else in it is meant as it stands. */
const toIcu = (template: string): string =>
  template
    .split(/\{\{\s*\.(\w+)\s*\}\}/)
    .map((part, at) => (at % 2 === 1 ? `{${names.get(part) ?? part}}` : quoted(part)))
    .join("");

const quoted = (text: string): string =>
  text.replaceAll("'", "''").replaceAll(/[{}]/g, (brace) => `'${brace}'`);
