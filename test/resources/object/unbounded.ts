/**
 * The orders that no index has: all that match are read and sorted for each page, which takes time in proportion to them. ListQuery
 * (object.proto) names the others. What is missing here is bounded by the page.
 */
export const unbounded: Readonly<Record<string, readonly string[]>> = {
  SearchTargets: [
    "TARGET_FIELD_NAME_CHANGE_DATE",
    "TARGET_FIELD_NAME_TARGET_TYPE",
    "TARGET_FIELD_NAME_URL",
    "TARGET_FIELD_NAME_TIMEOUT",
    "TARGET_FIELD_NAME_ASYNC",
    "TARGET_FIELD_NAME_INTERRUPT_ON_ERROR",
  ],
  SearchDomains: ["DOMAIN_FIELD_NAME_CHANGE_DATE", "DOMAIN_FIELD_NAME_NAME"],
  SearchRoles: ["ROLE_FIELD_NAME_KEY", "ROLE_FIELD_NAME_DISPLAY_NAME"],
  SearchIDPs: ["IDP_FIELD_NAME_NAME"],
  SearchSessions: ["SESSION_FIELD_NAME_CHANGE_DATE"],
  SearchSignIns: ["SIGN_IN_FIELD_NAME_CHANGE_DATE"],
  SearchUserSchemas: [
    "USER_SCHEMA_FIELD_NAME_TYPE",
    "USER_SCHEMA_FIELD_NAME_STATE",
    "USER_SCHEMA_FIELD_NAME_REVISION",
    "USER_SCHEMA_FIELD_NAME_CHANGE_DATE",
  ],
  SearchUsers: [
    "USER_FIELD_NAME_EMAIL",
    "USER_FIELD_NAME_STATE",
    "USER_FIELD_NAME_SCHEMA_ID",
    "USER_FIELD_NAME_SCHEMA_TYPE",
    "USER_FIELD_NAME_DISPLAY_NAME",
  ],
};

/** What PostgreSQL sorts besides: an index whose order of entries without a value, or with equal ones, is another. */
export const unboundedOnPostgres: Readonly<Record<string, readonly string[]>> = {
  SearchMemberships: ["MEMBERSHIP_FIELD_NAME_USER_ID"],
  SearchUserGrants: ["USER_GRANT_FIELD_NAME_USER_ID"],
  SearchUsers: ["USER_FIELD_NAME_PHONE"],
};

/** Filters that many entries may match, which come in the order of creation by an index, so that a page reads as many as it shows. */
export const inOrderFilters: Readonly<Record<string, readonly string[]>> = {
  SearchApps: ["project_id", "organization", "state"],
  SearchMemberships: ["context"],
  SearchOrganizations: ["state"],
  SearchProjectGrants: ["organization", "state"],
  SearchProjects: ["organization", "state"],
  SearchRoles: ["organization"],
  SearchSessions: [
    "user_id",
    "creation_date EQUALS",
    "creation_date GREATER",
    "creation_date GREATER_OR_EQUALS",
    "creation_date LESS",
    "creation_date LESS_OR_EQUALS",
  ],
  SearchSignIns: [
    "user_id",
    "creation_date EQUALS",
    "creation_date GREATER",
    "creation_date GREATER_OR_EQUALS",
    "creation_date LESS",
    "creation_date LESS_OR_EQUALS",
  ],
  SearchUserGrants: ["project_id", "project_grant_id", "organization", "state"],
  SearchUsers: ["organization", "state"],
};

/**
 * Filters that no index answers: entries are looked at in the order of the list until the page is full, which takes time in
 * proportion to those that are passed over. ListQuery (object.proto) says so.
 */
export const scannedFilters: Readonly<Record<string, readonly string[]>> = {
  SearchDomains: ["verified", "proven"],
  SearchEvents: ["types", "editor", "owner", "creation_date"],
  SearchExecutions: ["execution_type", "target", "include"],
  SearchIDPs: ["state"],
  SearchMemberships: ["role"],
  SearchProjectGrants: ["role_key"],
  SearchProjects: ["granted_organization_id"],
  SearchRefusals: ["kind", "client"],
  SearchRoles: [
    "group EQUALS",
    "group EQUALS_IGNORE_CASE",
    "group STARTS_WITH",
    "group STARTS_WITH_IGNORE_CASE",
  ],
  SearchSessions: [
    "creator",
    "fingerprint_id",
    "expiration_date GREATER",
    "expiration_date GREATER_OR_EQUALS",
    "expiration_date LESS",
    "expiration_date LESS_OR_EQUALS",
  ],
  SearchUserGrants: ["role_key"],
  SearchUserSchemas: [
    "type_filter EQUALS",
    "type_filter EQUALS_IGNORE_CASE",
    "type_filter STARTS_WITH",
    "type_filter STARTS_WITH_IGNORE_CASE",
    "state_filter",
  ],
  SearchUsers: [
    "schema_type EQUALS",
    "schema_type EQUALS_IGNORE_CASE",
    "schema_type STARTS_WITH",
    "schema_type STARTS_WITH_IGNORE_CASE",
  ],
};
