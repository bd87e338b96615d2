import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ConsentedAccess as AccessMember,
  type GetConsentSchema,
} from "#gen/idsvc/resources/consent/v3alpha/consent_pb.ts";
import type { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import type { Authorize, Handlers, HeldBy } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { listing } from "../object/queries.ts";
import { toOrganizationOwnedDetails } from "../object/details.ts";
import { userOf } from "../object/user-of.ts";
import { changing, whereItIs } from "../object/plain.ts";
import { consent, consentNotFound, revokeConsent } from "./consent.ts";
import type { ConsentedAccess } from "./events.ts";
import { consentQueries, type ConsentRow } from "./queries.ts";

type Service = typeof ConsentService;

/** What stands on a consent: how many families of tokens, and when one was last issued. */
export type TokenUse = { families: number; lastUsed: Date | undefined };
export type TokenUseReader = (
  db: Database,
) => (instanceId: string, userId: string, clientId: string) => Promise<TokenUse>;

export const consentAuthorize = (deps: Deps): Authorize<Service> => ({
  deleteConsent: whereItIs(deps, consentQueries(deps).find, consentNotFound),
});

/** Whose tokens end. */
export const usersOfConsents = ({ events }: Pick<Deps, "events">): HeldBy<Service> => ({
  deleteConsent: userOf(events, consent, (state) => state?.userId),
});

export function consentHandlers(deps: Deps, tokenUse: TokenUseReader): Handlers<Service> {
  const { apps, db } = deps;
  const queries = consentQueries(deps);
  const change = changing(deps, consent);
  const useOf = tokenUse(db);

  async function toGetConsent(row: ConsentRow): Promise<MessageInitShape<typeof GetConsentSchema>> {
    const { instanceId, userId, clientId, scope, access, creationDate } = row;
    const { families, lastUsed } = await useOf(instanceId, userId, clientId);
    const app = await apps.byClientId(instanceId, clientId);
    return {
      details: toOrganizationOwnedDetails(row),
      userId,
      clientId,
      scopes: scope,
      appName: app?.name ?? "",
      access: access === null ? AccessMember.UNSPECIFIED : members[access.kind],
      since: timestampFromDate(creationDate),
      ...(lastUsed === undefined ? {} : { lastUsed: timestampFromDate(lastUsed) }),
      tokenFamilies: families,
    };
  }

  return {
    searchConsents: listing(queries.search, toGetConsent),
    deleteConsent: ({ id }, scope) => change(scope, id, revokeConsent),
  };
}

const members: Readonly<Record<ConsentedAccess["kind"], AccessMember>> = {
  own: AccessMember.OWN_ACCOUNT,
  organization: AccessMember.ORGANIZATION,
  everything: AccessMember.EVERYTHING,
  given: AccessMember.GIVEN,
  legacy: AccessMember.LEGACY,
};
