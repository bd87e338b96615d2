import type { Endpoint } from "../api/endpoint.ts";
import type { WebEndpoint } from "../api/web-endpoint.ts";
import { version } from "../build.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Config } from "./config.ts";
import { metricsEndpoint } from "./metrics.ts";

/** What machines read of the service: its metrics and its description by OpenAPI. */
export function documents(config: Config, metrics: Metrics, endpoints: Endpoint[]): WebEndpoint[] {
  let openApi: string | undefined;
  const document = { methods: ["GET"], crossOrigin: "none", anyHost: true } as const;
  return [
    metricsEndpoint(metrics, config),
    {
      ...document,
      path: "/openapi.json",
      async handle() {
        const { openApiDocument } = await import("../api/system/openapi.ts");
        const rules = endpoints.map(({ rule }) => rule);
        const issuer = config.externalUrl;
        openApi ??= JSON.stringify(openApiDocument(rules, { issuer, version }));
        return { status: 200, headers: { "content-type": "application/json" }, body: openApi };
      },
    },
  ];
}
