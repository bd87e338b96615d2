import { caseFold } from "../../../storage/case-fold.ts";
import { defineEvents, type EventOf, hold, payload, release } from "../../../eventstore/event.ts";

export const targetNameClaim = "target.name";

export type TargetKind = "rest_webhook" | "rest_request_response";

export type TargetConfig = {
  name: string;
  kind: TargetKind;
  url: string;
  timeoutMs: number;
  isAsync: boolean;
  interruptOnError: boolean;
  /** Payloads hold the secrets of messages. */
  payloadSecrets: boolean;
};

// Targets of earlier releases were told secrets without anybody's word: they are not any more.
type Added = Omit<TargetConfig, "payloadSecrets"> & Partial<Pick<TargetConfig, "payloadSecrets">>;

/** Facts about one target. Event names are public: execution conditions match on them. */
export const targetEvents = defineEvents("target", {
  added: payload<Added>({
    claims: ({ name }) => [hold(targetNameClaim, caseFold(name))],
  }),
  changed: payload<Partial<TargetConfig> & { signingKeyRotated?: boolean }>({
    claims: ({ name }) => (name === undefined ? [] : [hold(targetNameClaim, caseFold(name))]),
  }),
  removed: payload<{ name: string }>({ claims: () => [release(targetNameClaim)] }),
});

export type TargetEvent = EventOf<typeof targetEvents>;
