import { SMSProviderService } from "#gen/idsvc/resources/sms/v3alpha/sms_provider_service_pb.ts";
import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import { type Action, type Kind, type Listed, textAt } from "./declare.ts";
import { fieldsIn } from "./fields.ts";
import { activity } from "./grants.ts";
import { historyOf, id, ownFacts } from "./shared.ts";

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

export const mailProviders: Listed = {
  isOfInstance: true,
  search: { method: smtp.searchSMTPProviders, request: () => ({}) },
  hasNoFilter: true,
  watches: ["instance.smtp"],
  hint: "hintMail",
  columns: [
    { path: "smtp_provider.description" },
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
      fields: fieldsIn(smtp.createSMTPProvider.input, "smtp_provider"),
      leadsTo: "/mail/$id",
    },
  ],
};

export const mailProvider: Kind = {
  back: { to: "/mail", word: "mailProviders" },
  get: smtp.getSMTPProvider,
  object: "smtp_provider",
  title: (object) =>
    textAt(object, "smtp_provider.description") || textAt(object, "smtp_provider.sender_address"),
  facts: [
    ...fieldsIn(smtp.getSMTPProvider.output, "smtp_provider.smtp_provider", ["password"]).map(
      ({ path }) => ({ path: path.slice("smtp_provider.".length) }),
    ),
    { path: "state" },
    ...ownFacts,
  ],
  actions: [
    {
      word: "edit",
      method: smtp.patchSMTPProvider,
      given: id,
      isChange: true,
      once: signing,
      fields: fieldsIn(smtp.patchSMTPProvider.input, "smtp_provider"),
    },
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
      fields: fieldsIn(sms.createSMSProvider.input, "sms_provider"),
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
    {
      word: "edit",
      method: sms.patchSMSProvider,
      given: id,
      isChange: true,
      once: signing,
      fields: fieldsIn(sms.patchSMSProvider.input, "sms_provider"),
    },
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
