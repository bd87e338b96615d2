import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import type { ProviderType as TypeNumber } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";

/** What the service must know of a type of providers to keep its configuration; how one logs in with it is elsewhere. */
export type ProviderType<C extends DescMessage = DescMessage> = {
  number: TypeNumber;
  /** As its methods and messages are named: `Create<rpc>IDP`. */
  rpc: string;
  /** What a provider is called that was given no name. */
  title: string;
  config: C;
  patch: DescMessage;
  /** The field that is written and never read. */
  secret?: string;
  /**
   * Fields that say where the secret is sent, or how it is protected there: to change one takes a new secret
   * (E1, D64).
   */
  secretBoundFields: readonly string[];
  /** Fields that hold http URLs which the service calls: they must be allowed (X13). */
  urls: readonly string[];
  /** What counts where a field is empty on create. */
  defaults?: JsonObject;
};

/** Keeps the type of the configuration, which the login needs. */
export const providerType = <C extends DescMessage>(definition: ProviderType<C>): ProviderType<C> =>
  definition;
