import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { EventTypesFilterSchema } from "#gen/idsvc/resources/event/v3alpha/query_pb.ts";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import { UserSchemaService } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { holdingFilters } from "../../../src/resources/object/filter-tree.ts";

const services = [
  ActionService,
  AppService,
  DomainService,
  EventService,
  ProjectGrantService,
  RoleService,
  UserGrantService,
  IdentityProviderService,
  MembershipService,
  OrganizationService,
  ProjectService,
  SessionService,
  SignInService,
  UserSchemaService,
  UserService,
];

/** The searches of an owner of an instance, but those of what one user or app has. */
export const searches = services.flatMap((each) =>
  each.methods.filter(({ input }) => "query" in input.field && !("id" in input.field)),
);

/** What one filter of a search asks for, by the name of its field and, where texts or times are compared, how. */
export type SampleFilter = { name: string; filter: JsonObject };

/** A filter of each kind that a search takes, with some value, and of each way to compare. Those that hold others are left out. */
export function filtersOf(input: DescMessage): SampleFilter[] {
  const message = input.field["filters"]?.message;
  if (message === undefined) return [];
  const holding = holdingFilters(message);
  const fields = message.oneofs.find(({ name }) => name === "filter")?.fields ?? [];
  return fields
    .filter(({ localName }) => !holding.has(localName))
    .flatMap((field) => {
      const value = sampleOf(field);
      const methods = field.message?.field["method"]?.enum;
      if (methods === undefined) return [{ name: field.name, filter: { [field.name]: value } }];
      // To compare the middle or the end of a text each one is looked at, which ListQuery says.
      const known = methods.values.filter(({ name }) => !/_(CONTAINS|ENDS_WITH)/.test(name));
      return known.map(({ name }) => ({
        name: `${field.name} ${name.replace(/^.*_METHOD_/, "")}`,
        filter: { [field.name]: { ...Object(value), method: name } },
      }));
    });
}

function sampleOf(field: DescField): JsonValue {
  const one = oneSample(field.message, field.enum, field.scalar);
  return field.fieldKind === "list" ? [one] : one;
}

function oneSample(message?: DescMessage, choice?: DescEnum, scalar?: ScalarType): JsonValue {
  if (choice !== undefined) return choice.values.find(({ number }) => number > 0)?.name ?? 0;
  if (message === undefined) {
    if (scalar === ScalarType.BOOL) return true;
    return scalar === ScalarType.STRING ? "sample" : "1";
  }
  if (message.typeName === EventTypesFilterSchema.typeName) return { types: ["user"] };
  if (message.typeName === "google.protobuf.Timestamp") return "2026-01-01T00:00:00Z";
  const [first, ...rest] = message.oneofs.flatMap(({ fields }) => fields);
  const plain = message.fields.filter((field) => field !== first && !rest.includes(field));
  const all = [...plain, ...(first === undefined ? [] : [first])];
  return Object.fromEntries(all.map((field) => [field.name, sampleOf(field)]));
}
