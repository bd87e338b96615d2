import type { Awaitable } from "../awaitable.ts";
import type { OriginReader } from "./ports.ts";

/** What users log in to, or what checks their tokens. */
export type FoundApp = {
  clientId: string;
  name: string;
  projectId: string;
  organizationId: string;
  /** It, its project and its organization are active. */
  isActive: boolean;
  /** What its tokens may do at the service's own APIs beyond what users of its organization give it (J4). */
  apiAccess: AppAccess | undefined;
  /** Who made it, and changed what answers for it, could do everything in the instance. */
  isOwnerMade: boolean;
  /** It had tokens for our APIs before apps needed an access to them. */
  isLegacy: boolean;
};

type AppAccess = {
  /** Names of permissions, or `*` for all of them. */
  permissions: readonly string[];
  /** Whether they count on the instance and in all of its organizations. */
  instance: boolean;
  organizationIds: readonly string[];
  /** Users are not asked. */
  trusted: boolean;
};

/** What is asked of apps; never older than the last write that changed any of it (B7). */
export interface AppReader extends OriginReader {
  byClientId(instanceId: string, clientId: string): Awaitable<FoundApp | undefined>;
}
