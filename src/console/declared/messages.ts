import type { DescMessage, DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { SMSProviderService } from "#gen/idsvc/resources/sms/v3alpha/sms_provider_service_pb.ts";
import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import {
  type Action,
  at,
  type Field,
  type Kind,
  type Listed,
  type Path,
  textAt,
  type Ways,
} from "./declare.ts";
import { fieldsIn } from "./fields.ts";
import { nameIn } from "./schema.ts";
import { activity, historyOf, id, ownFacts } from "./shared.ts";

const smtp = SMTPProviderService.method;
const sms = SMSProviderService.method;
const signing = [{ path: "signing_key" }] as const;

const states = (activate: Action["method"], deactivate: Action["method"]): readonly Action[] => [
  { word: "activate", method: activate, given: id, when: (object) => activity(object, false) },
  {
    word: "deactivate",
    method: deactivate,
    given: id,
    isDangerous: true,
    when: (object) => activity(object, true),
  },
];

const { input: newMail } = smtp.createSMTPProvider;
const { input: newSms } = sms.createSMSProvider;

const isNamed =
  (...names: string[]) =>
  ({ path }: Field): boolean =>
    names.includes(nameIn(path));
/** A provider is a server, or a service of one's own that is called for each message, and stays it. */
const isOfService = isNamed("url", "rotate_signing_key");
const isOfBoth = isNamed("description", "sender_address", "sender_name", "reply_to_address");
const isPolicy = isNamed("state_policy");
const isOfServer = (field: Field): boolean =>
  !isOfService(field) && !isOfBoth(field) && !isPolicy(field);

function fieldsOfNew(input: DescMessage, path: Path, server: string): readonly (Field | Ways)[] {
  const all = fieldsIn(input, path);
  const ways = [
    { word: server, fields: all.filter(isOfServer) },
    { word: "calledService", fields: all.filter(isOfService) },
  ];
  return [...all.filter(isOfBoth), { word: "sentBy", ways }, ...all.filter(isPolicy)];
}

/** The change of a server, and that of a service that is called. */
const edits = (method: DescMethodUnary, path: Path): readonly Action[] => {
  const fields = fieldsIn(method.input, path);
  const edit = { word: "edit", method, given: id, isChange: true, once: signing } as const;
  const isService = (object: JsonObject) => at(object, `${path}.http`) !== undefined;
  return [
    {
      ...edit,
      fields: fields.filter((field) => !isOfService(field)),
      when: (object) => !isService(object),
    },
    { ...edit, fields: fields.filter((field) => !isOfServer(field)), when: isService },
  ];
};

const nameOfMail = (object: JsonObject): string =>
  textAt(object, "smtp_provider.description") || textAt(object, "smtp_provider.sender_address");

export const mailProviders: Listed = {
  isOfInstance: true,
  search: { method: smtp.searchSMTPProviders, request: () => ({}) },
  hasNoFilter: true,
  watches: ["instance.smtp"],
  hint: "hintMail",
  columns: [
    { path: "smtp_provider.description", text: nameOfMail },
    { path: "smtp_provider.sender_address" },
    { path: "smtp_provider.host" },
    { path: "state" },
  ],
  opens: { to: "/mail/$id", id: "details.id" },
  add: [
    {
      word: "addMailProvider",
      method: smtp.createSMTPProvider,
      once: signing,
      fields: fieldsOfNew(newMail, "smtp_provider", "mailServer"),
      leadsTo: "/mail/$id",
    },
  ],
};

export const mailProvider: Kind = {
  back: { to: "/mail", word: "mailProviders" },
  get: smtp.getSMTPProvider,
  object: "smtp_provider",
  title: nameOfMail,
  facts: [
    ...fieldsIn(smtp.getSMTPProvider.output, "smtp_provider.smtp_provider", ["password"]).map(
      ({ path }) => ({ path: path.slice("smtp_provider.".length) }),
    ),
    { path: "state" },
    ...ownFacts,
  ],
  actions: [
    ...edits(smtp.patchSMTPProvider, "smtp_provider"),
    ...states(smtp.activateSMTPProvider, smtp.deactivateSMTPProvider),
    {
      word: "sendTest",
      method: smtp.testSMTPProvider,
      given: id,
      fields: [{ path: "test.receiver_address" }],
    },
    {
      word: "delete",
      method: smtp.deleteSMTPProvider,
      given: id,
      isDangerous: true,
      leadsTo: "/mail",
    },
  ],
  rows: [],
  history: historyOf("smtp"),
};

export const smsProviders: Listed = {
  isOfInstance: true,
  search: { method: sms.searchSMSProviders, request: () => ({}) },
  hasNoFilter: true,
  watches: ["instance.sms"],
  columns: [
    { path: "sms_provider.description" },
    { path: "sms_provider.sender_number" },
    { path: "state" },
  ],
  opens: { to: "/sms/$id", id: "details.id" },
  add: [
    {
      word: "addSmsProvider",
      method: sms.createSMSProvider,
      once: signing,
      fields: fieldsOfNew(newSms, "sms_provider", "smsGateway"),
      leadsTo: "/sms/$id",
    },
  ],
};

export const smsProvider: Kind = {
  back: { to: "/sms", word: "smsProviders" },
  get: sms.getSMSProvider,
  object: "sms_provider",
  title: (object) => textAt(object, "sms_provider.description"),
  facts: [
    ...fieldsIn(sms.getSMSProvider.output, "sms_provider.sms_provider", ["token"]).map(
      ({ path }) => ({ path: path.slice("sms_provider.".length) }),
    ),
    { path: "state" },
    ...ownFacts,
  ],
  actions: [
    ...edits(sms.patchSMSProvider, "sms_provider"),
    ...states(sms.activateSMSProvider, sms.deactivateSMSProvider),
    {
      word: "delete",
      method: sms.deleteSMSProvider,
      given: id,
      isDangerous: true,
      leadsTo: "/sms",
    },
  ],
  rows: [],
  history: historyOf("sms"),
};
