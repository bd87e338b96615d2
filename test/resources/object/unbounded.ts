/**
 * The orders that no index has: all that match are read and sorted for each page, which takes time in proportion to them. ListQuery
 * (object.proto) says so of every order but those by creation date and ID. What is missing here is bounded by the page.
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
  SearchApps: ["APP_FIELD_NAME_CHANGE_DATE", "APP_FIELD_NAME_NAME"],
  SearchDomains: ["DOMAIN_FIELD_NAME_CHANGE_DATE", "DOMAIN_FIELD_NAME_NAME"],
  SearchProjectGrants: ["PROJECT_GRANT_FIELD_NAME_CHANGE_DATE"],
  SearchRoles: [
    "ROLE_FIELD_NAME_CHANGE_DATE",
    "ROLE_FIELD_NAME_KEY",
    "ROLE_FIELD_NAME_DISPLAY_NAME",
  ],
  SearchUserGrants: ["USER_GRANT_FIELD_NAME_CHANGE_DATE"],
  SearchIDPs: ["IDP_FIELD_NAME_NAME"],
  SearchMemberships: [
    "MEMBERSHIP_FIELD_NAME_UNSPECIFIED",
    "MEMBERSHIP_FIELD_NAME_ID",
    "MEMBERSHIP_FIELD_NAME_CREATION_DATE",
    "MEMBERSHIP_FIELD_NAME_CHANGE_DATE",
    "MEMBERSHIP_FIELD_NAME_USER_ID",
  ],
  SearchOrganizations: ["ORGANIZATION_FIELD_NAME_CHANGE_DATE", "ORGANIZATION_FIELD_NAME_NAME"],
  SearchProjects: ["PROJECT_FIELD_NAME_CHANGE_DATE", "PROJECT_FIELD_NAME_NAME"],
  SearchSessions: ["SESSION_FIELD_NAME_CHANGE_DATE"],
  SearchUserSchemas: [
    "USER_SCHEMA_FIELD_NAME_TYPE",
    "USER_SCHEMA_FIELD_NAME_STATE",
    "USER_SCHEMA_FIELD_NAME_REVISION",
    "USER_SCHEMA_FIELD_NAME_CHANGE_DATE",
  ],
  SearchUsers: [
    "USER_FIELD_NAME_CHANGE_DATE",
    "USER_FIELD_NAME_USERNAME",
    "USER_FIELD_NAME_EMAIL",
    "USER_FIELD_NAME_STATE",
    "USER_FIELD_NAME_SCHEMA_TYPE",
    "USER_FIELD_NAME_DISPLAY_NAME",
  ],
};

/** What PostgreSQL sorts besides: an index whose order of entries without a value, or with equal ones, is another. */
export const unboundedOnPostgres: Readonly<Record<string, readonly string[]>> = {
  SearchUserGrants: ["USER_GRANT_FIELD_NAME_USER_ID"],
  SearchUsers: ["USER_FIELD_NAME_PHONE", "USER_FIELD_NAME_SCHEMA_ID"],
};
