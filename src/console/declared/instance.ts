import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { UserSchemaService } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
import { WebKeyService } from "#gen/idsvc/resources/webkey/v3alpha/web_key_service_pb.ts";
import { type Kind, type Listed, textAt } from "./declare.ts";
import { fieldsIn } from "./fields.ts";
import { activity, addMember, historyOf, id, membershipActions, ownFacts } from "./shared.ts";

const keys = WebKeyService.method;
const schemas = UserSchemaService.method;
const members = MembershipService.method;

export const webKeys: Listed = {
  isOfInstance: true,
  search: { method: keys.listWebKeys, request: () => ({}) },
  hasNoFilter: true,
  watches: ["web_key"],
  columns: [
    { path: "details.id", word: "id", as: "code" },
    { path: "state" },
    { path: "config.rsa.bits" },
    { path: "config.ecdsa.curve" },
    { path: "details.change_date", word: "changed" },
  ],
  add: [
    {
      word: "addWebKey",
      method: keys.createWebKey,
      fields: [
        {
          word: "kind",
          ways: [
            // Of what is not chosen the service takes its default.
            {
              word: "RSA",
              given: { "key.rsa": { is: {} } },
              fields: fieldsIn(keys.createWebKey.input, "key.rsa"),
            },
            {
              word: "ECDSA",
              given: { "key.ecdsa": { is: {} } },
              fields: fieldsIn(keys.createWebKey.input, "key.ecdsa"),
            },
            { word: "Ed25519", given: { "key.ed25519": { is: {} } } },
          ],
        },
      ],
    },
  ],
  actions: [
    {
      word: "activateKey",
      about: "about_activateKey",
      method: keys.activateWebKey,
      given: id,
      isDangerous: true,
      when: (key) => key["state"] === "WEB_KEY_STATE_INITIAL",
    },
    {
      word: "delete",
      method: keys.deleteWebKey,
      given: id,
      isDangerous: true,
      when: (key) => key["state"] !== "WEB_KEY_STATE_ACTIVE",
    },
  ],
};

export const userSchemas: Listed = {
  isOfInstance: true,
  search: { method: schemas.searchUserSchemas, request: () => ({}) },
  hasNoFilter: true,
  watches: ["user_schema"],
  columns: [
    { path: "user_schema.type" },
    { path: "revision" },
    { path: "state" },
    { path: "details.change_date", word: "changed" },
  ],
  opens: { to: "/schemas/$id", id: "details.id" },
  add: [
    {
      word: "addSchema",
      method: schemas.createUserSchema,
      leadsTo: "/schemas/$id",
      fields: fieldsIn(schemas.createUserSchema.input, "user_schema"),
    },
  ],
};

export const userSchema: Kind = {
  back: { to: "/schemas", word: "userSchemas" },
  get: schemas.getUserSchema,
  object: "user_schema",
  title: (object) => textAt(object, "user_schema.type"),
  facts: [
    { path: "user_schema.type" },
    { path: "revision" },
    { path: "state" },
    { path: "user_schema.possible_authenticators" },
    { path: "user_schema.schema", as: "json" },
    ...ownFacts,
  ],
  actions: [
    {
      word: "edit",
      method: schemas.patchUserSchema,
      given: id,
      isChange: true,
      fields: fieldsIn(schemas.patchUserSchema.input, "user_schema"),
    },
    {
      word: "deactivate",
      method: schemas.deactivateUserSchema,
      given: id,
      isDangerous: true,
      when: (object) => activity(object, true),
    },
    {
      word: "activate",
      method: schemas.reactivateUserSchema,
      given: id,
      when: (object) => activity(object, false),
    },
    {
      word: "delete",
      method: schemas.deleteUserSchema,
      given: id,
      isDangerous: true,
      leadsTo: "/schemas",
    },
  ],
  rows: [],
  history: historyOf("user_schema"),
};

/** All who have roles that administer something; those of the instance are given here. */
export const administrators: Listed = {
  search: { method: members.searchMemberships, request: () => ({}) },
  isOfInstance: true,
  hasNoFilter: true,
  watches: ["instance.member", "org.member", "project.member", "project.grant.member"],
  columns: [
    { path: "membership.user_id", word: "field_user", as: "person" },
    { path: "membership.roles", as: "code" },
    { path: "membership.ctx.org_id", word: "organization", as: "organization" },
    { path: "membership.ctx.project_id", word: "project", as: "project" },
    { path: "accepted" },
    { path: "details.change_date", word: "changed" },
  ],
  add: [addMember("instance_id", "instance")],
  actions: membershipActions(),
};
