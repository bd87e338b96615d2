import type { Reason } from "./parity.ts";

/** The methods that no page of the console offers, each with its reason. A method that a page offers has no place here. */
export const unreached: Readonly<Record<string, Reason>> = {
  // A row of the list shows all that these answer.
  "DomainService.GetDomain": "in its list",
  "MembershipService.GetMembership": "in its list",
  "OrganizationService.GetInstanceDefault": "in its list",
  "ProjectGrantService.GetProjectGrant": "in its list",
  "RoleService.GetRole": "in its list",
  "SessionService.GetSession": "in its list",
  "UserService.GetUserMetadata": "in its list",
  "UserGrantService.GetUserGrant": "in its list",

  "SessionService.CreateSession": "machines",
  "SessionService.PatchSession": "machines",
  "SessionService.StartIdentityProviderIntent": "machines",
  "SessionService.GetIdentityProviderIntent": "machines",
  "ManagementService.ListProjectGrantChanges": "superseded",
  "ManagementService.ImportHumanUser": "superseded",

  "UserService.StartWebAuthNRegistration": "own account",
  "UserService.VerifyWebAuthNRegistration": "own account",

  "InstanceService.CreateInstance": "system",
  "InstanceService.DeleteInstance": "system",
  "InstanceService.SearchInstances": "system",
  "InstanceService.GetInstance": "system",
  "InstanceService.PatchInstance": "system",
  "InstanceService.LimitInstance": "system",
  "InstanceService.BulkLimitInstances": "system",
};
