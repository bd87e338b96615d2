import assert from "node:assert/strict";

type Mount = { type: string; source: string; target: string; read_only?: boolean };
type Service = {
  image: string;
  environment?: Record<string, string>;
  secrets?: { source: string; target?: string }[];
  volumes?: Mount[];
  networks: Record<string, unknown>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
};
/** A project of compose, as compose itself has read it: with variables and paths resolved. */
export type Project = {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
};

/** What needs no command of `docker`: it is built and reached otherwise, and ends with the test. */
const elsewhere = ["build", "ports", "restart"];
const known = [
  "image",
  "environment",
  "secrets",
  "volumes",
  "networks",
  "depends_on",
  "healthcheck",
  "read_only",
  "cap_drop",
  "security_opt",
];

/** A text as a word of a shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The commands that start the services of a project, each once those that it waits for are healthy (`waitFor`). */
export function composeUp({ services, secrets, networks }: Project): string {
  const begun = new Set<string>();
  const lines = Object.entries(networks).map(
    ([name, { ipam }]) => `docker network create --subnet ${ipam.config[0]?.subnet} ${name}`,
  );
  const begin = (name: string): void => {
    const service = services[name];
    assert.ok(service, name);
    if (begun.has(name)) return;
    begun.add(name);
    for (const [before, { condition }] of Object.entries(service.depends_on ?? {})) {
      assert.equal(condition, "service_healthy");
      begin(before);
    }
    lines.push(runOf(name, service, secrets));
    const [how, ...test] = service.healthcheck?.test ?? [];
    if (how === undefined) return;
    assert.equal(how, "CMD");
    lines.push(`wait_for ${name} docker exec ${name} ${test.join(" ")}`);
  };
  for (const name of Object.keys(services)) begin(name);
  return lines.join("\n");
}

function runOf(name: string, service: Service, secrets: Project["secrets"]): string {
  for (const key of Object.keys(service)) assert.ok([...elsewhere, ...known].includes(key), key);
  const [network] = Object.keys(service.networks);
  return [
    `docker run -d --name ${name} --network ${network}`,
    ...(service.read_only ? ["--read-only"] : []),
    ...(service.cap_drop ?? []).map((each) => `--cap-drop ${each}`),
    ...(service.security_opt ?? []).map((each) => `--security-opt ${each}`),
    ...Object.entries(service.environment ?? {}).map(
      ([key, value]) => `-e ${quoted(`${key}=${value}`)}`,
    ),
    ...(service.secrets ?? []).map(
      ({ source, target = `/run/secrets/${source}` }) => `-v ${secrets[source]?.file}:${target}:ro`,
    ),
    ...(service.volumes ?? []).map(
      ({ source, target, read_only }) => `-v ${source}:${target}${read_only ? ":ro" : ""}`,
    ),
    service.image,
  ].join(" ");
}
