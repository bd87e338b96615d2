import type { DescService } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { registerHealth } from "./health.ts";
import type { Readiness } from "./readiness.ts";
import { registerReflection } from "./reflection.ts";

/** Connect's router, which serves health and reflection in every protocol of Connect. */
export const systemRouter = (parts: {
  readiness: Readiness;
  services: readonly DescService[];
  publicServices: readonly DescService[];
  shutdownSignal: AbortSignal;
}): ReturnType<typeof connectNodeAdapter> => {
  const { readiness, services, publicServices, shutdownSignal } = parts;
  return connectNodeAdapter({
    shutdownSignal,
    routes(router) {
      registerHealth(
        router,
        readiness,
        services.map(({ typeName }) => typeName),
      );
      registerReflection(router, [...services, ...publicServices]);
    },
  });
};
