import type { At, OidcSession } from "./ports.ts";

/** A device that waits for somebody to let it in (RFC 8628). */
export type DeviceRequest = {
  id: string;
  clientId: string;
  scope: readonly string[];
  expiresAt: Date;
  state: "pending" | "approved" | "denied" | "done";
};

/** Who let the device in, and what they allowed it. */
export type DeviceGrant = Omit<OidcSession, "id">;

export type PolledRequest = DeviceRequest & {
  digest: string;
  grant: DeviceGrant | undefined;
  tooSoon: boolean;
};

export interface Devices {
  /** Keeps a request until it expires. False when the user code is taken. */
  begin(
    at: At,
    request: { deviceCode: string; userCode: string; intervalMs: number } & Pick<
      DeviceRequest,
      "clientId" | "scope" | "expiresAt"
    >,
  ): Promise<boolean>;
  /** The request that waits under a user code (8 letters, without dash), until it expires or is decided. */
  byUserCode(at: At, userCode: string): Promise<DeviceRequest | undefined>;
  /** The same by its id, with the code. */
  waiting(
    at: At,
    requestId: string,
  ): Promise<{ request: DeviceRequest; userCode: string } | undefined>;
  /** Lets the device in. False when the request has expired or was decided already. */
  approve(at: At, requestId: string, grant: DeviceGrant): Promise<boolean>;
  deny(at: At, requestId: string): Promise<boolean>;
  /** What has become of a request, for the device; `tooSoon` when it asks before its interval is over. */
  poll(at: At, deviceCode: string): Promise<PolledRequest | undefined>;
}
