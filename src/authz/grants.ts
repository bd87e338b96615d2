import type { Awaitable } from "../awaitable.ts";
import type { DomainError } from "../errors.ts";
import type { Transaction } from "../eventstore/transaction.ts";
import type { Column, SQL } from "../storage/drizzle.ts";
import type { Power } from "./holds.ts";
import type { Reach } from "./permissions.ts";
import type { Owned } from "./tenancy.ts";

/** The right of another organization to use a project. */
export type ProjectGrant = {
  id: string;
  projectId: string;
  /** Of the organization that owns the project. */
  organizationId: string;
  grantedOrganizationId: string;
};

/** What is asked of grants of projects; never older than the last write that changed any (B7). */
export interface ProjectGrants {
  /** Whether it is active or not. */
  byId(instanceId: string, id: string): Awaitable<ProjectGrant | undefined>;
  /** The active grants of a project, and the organizations that they were given to. */
  ofProject(instanceId: string, projectId: string): Promise<NonNullable<Owned["grants"]>>;
  /** Whether an active grant gives the project to the organization. */
  isGrantedTo(instanceId: string, projectId: string, organizationId: string): Promise<boolean>;
  /** Whether the organization wants it as well (J5). */
  isAcceptedBy(instanceId: string, projectId: string, organizationId: string): Promise<boolean>;
  /** Keeps the projects with a grant that matches: by any of these grants, or to any of these organizations. */
  isGranted(
    project: { instanceId: Column; id: Column },
    to: Pick<Reach, "organizations" | "projectGrants">,
    onlyActive: boolean,
  ): SQL;
  /**
   * Makes sure that the grant and the organization that has it are still there when the unit commits.
   *
   * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND, ORGANIZATION_NOT_FOUND
   */
  require(tx: Transaction, id: string): Promise<unknown>;
  /** PROJECT_GRANT_NOT_FOUND */
  missing(this: void): DomainError;
}

/** Roles of a user in a project, and the organization that granted them. */
export type UserGrant = {
  projectId: string;
  /** Empty where the owner of the project granted the roles. */
  projectGrantId: string;
  organizationId: string;
  roleKeys: readonly string[];
};

type UserAt = { id: string; organizationId: string };

/** What is asked of grants of roles to users. */
export interface UserGrants {
  /**
   * The roles that count: of active grants, by active project grants, in active projects of active organizations. Never older than
   * the last write that changed any of these (B7).
   */
  ofUser(instanceId: string, userId: string): Promise<readonly UserGrant[]>;
  /**
   * What counts as power of the user (decision 0087): grants in projects that their organization owns, or was granted and has
   * accepted. Never older than the call.
   */
  powerOf(instanceId: string, user: UserAt): Promise<Power["grants"]>;
  /** The same, which stays so until the unit commits. */
  holdPowerOf(tx: Transaction, instanceId: string, user: UserAt): Promise<Power["grants"]>;
  /** Keeps the rows of users who have any grant. */
  isHeldBy(row: { instanceId: string; userId: Column }): SQL;
}
