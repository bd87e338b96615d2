import { providerEvents } from "./events.ts";
import type { MessageProviderKind, ProviderConfig } from "./kind.ts";
import { providerProjection, providerTable } from "./projection.ts";
import { isReusable, type ProviderStorage } from "./storage.ts";
import { defineStatePolicies } from "../object/reuse/policies.ts";

export { providerCalls } from "./calls.ts";
export { type MessageProviderKind, providerFixed } from "./kind.ts";
export type { SeenProvider } from "./queries.ts";
export { providerReader, type UsableProvider } from "./reader.ts";
export type {
  GatewayProvider,
  HttpProvider,
  MailProvider,
  SmsProvider,
  SmtpProvider,
} from "./sending.ts";

/**
 * Defines where providers of a kind are kept, and by which events.
 *
 * Kinds of two levels are reusable (decisions E): instances inherit the providers of the system and decide on them.
 */
export function defineMessageProviders<C extends ProviderConfig>(kind: MessageProviderKind<C>) {
  const providers = providerTable(kind);
  const policies = defineStatePolicies(`instance.${kind.name}`, `${kind.name}_state_policies`);
  const levels = kind.levels.map((level) => [level, providerEvents(level, kind)] as const);
  const storage: ProviderStorage<C> = { kind, providers, policies };
  const ofPolicies = isReusable(kind) ? [policies] : [];
  return {
    storage,
    events: [...levels.map(([, events]) => events), ...ofPolicies.map(({ events }) => events)],
    projections: [
      providerProjection(kind, providers, levels),
      ...ofPolicies.map((each) => each.projection()),
    ],
  };
}
