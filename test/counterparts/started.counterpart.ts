import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { images } from "../../.ci/image.ts";
import { install } from "../../.ci/installation.ts";
import { composeUp, type Project, quoted } from "../deploy/compose-up.ts";
import { docker, waitFor } from "../deploy/docker.ts";
import { logIn, signedIn } from "../deploy/log-in.ts";
import { home, noMachine, onMachine } from "../deploy/machine.ts";
import { othersImages } from "../deploy/others-images.ts";
import { podsUp } from "../deploy/pods.ts";
import { readCompose } from "./compose.ts";
import { goCommand } from "./go.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "idsvc-started-"));
after(() => rmSync(folder, { recursive: true }));

let given: string[];
before(() => {
  const installation = join(folder, "installation");
  install(installation, "amd64");
  const image = images(folder, [{ installation, architecture: "amd64" }]);
  const cwd = join(folder, "debs");
  execFileSync("mkdir", [cwd]);
  const options = ["-qq", "-o", "APT::Sandbox::User="];
  execFileSync("apt-get", [...options, "download", "caddy", "oathtool", "liboath0"], {
    cwd,
    stdio: "inherit",
  });
  const stand = join(folder, "docker.sh");
  writeFileSync(stand, docker());
  const debs = execFileSync("ls", [cwd], { encoding: "utf8" }).trim().split("\n");
  given = [...image, stand, ...debs.map((name) => join(cwd, name))];
});

const begun = `${logIn}\n${waitFor}\n${othersImages}
install -m 755 docker.sh /usr/local/bin/docker; docker load -i idsvc_*_amd64.oci.tar`;

/**
 * Logs the first administrator in and calls over gRPC, through the TLS of a Caddy that has made its own certificate; then tells what
 * the service has logged.
 */
const useBy = (host: string, containers: readonly string[]) => `
root=/volumes/certificates/caddy/pki/authorities/local/root.crt
printf 'connect-to = "${host}:443:caddy:443"\\ncacert = "%s"\\ninterface = "192.0.2.7"\\n' $root > ~/.curlrc
ip address add 192.0.2.7/32 dev lo
until [ -s $root ] && curl -sS https://${host}/healthz >/dev/null; do sleep 0.2; done
log_in https://${host} $(awk '/^administrator/ { print $2 }' told) $(awk '/^password/ { print $2 }' told)
printf '\\0\\0\\0\\0\\0' | curl -sS --http2 -D - -o answer -H 'Content-Type: application/grpc' -H 'TE: trailers' --data-binary @- \\
  https://${host}/grpc.health.v1.Health/Check | grep '^grpc-status'
for container in ${containers.join(" ")}; do docker logs $container; done`;

function requireUse(told: string): void {
  assert.match(told, signedIn);
  assert.match(told, /^grpc-status: 0\r$/m);
  // Whom the proxy names, since it is trusted.
  const addresses = [...told.matchAll(/"clientAddress":"(.*?)"/g)].map(([, address]) => address);
  assert.deepEqual([...new Set(addresses)], ["192.0.2.0/24"]);
}

describe("compose.yaml", { skip: noMachine() }, () => {
  it("starts the service with PostgreSQL, and somebody logs in through Caddy", () => {
    const compose = join(folder, "compose");
    const read = readCompose(compose, "localhost");
    const [, secrets = ""] =
      /```sh\n(.*?)```/s.exec(readFileSync(join(root, "docs/deploy/compose.md"), "utf8")) ?? [];
    const project: Project = parse(read.replaceAll(compose, join(home, "compose")));
    const told = onMachine(
      `${begun}
      (cd compose; ${secrets})
      ${composeUp(project)}
      docker exec idsvc idsvc bootstrap > told
      ${useBy("localhost", ["idsvc"])}`,
      [...given, compose],
    );
    requireUse(told);
  });
});

describe("the chart", { skip: noMachine() }, () => {
  const subnet = "172.31.250.0/24";
  // Another proxy in front, as the page says; it goes on to all pods in turn.
  const caddyfile = (pods: number) =>
    `id.example.com {\n tls internal\n reverse_proxy ${Array.from({ length: pods }, (_, at) => `h2c://idsvc-${at}:8080`).join(" ")}\n}\n`;
  const workloadOf = (values: readonly string[]) => {
    const must = ["externalUrl=https://id.example.com", "secret.name=idsvc"];
    const set = [...must, `trustedProxies={${subnet}}`, ...values].flatMap((each) => [
      "--set",
      each,
    ]);
    const helm = goCommand("helm.sh/helm/v3/cmd/helm", "v3.22.0");
    const args = [
      "template",
      "--kube-version",
      "v1.37.2",
      "idsvc",
      join(root, "deploy/helm/idsvc"),
      ...set,
    ];
    // Kubernetes reads YAML 1.1, where 0440 is octal.
    const objects = parseAllDocuments(execFileSync(helm, args, { encoding: "utf8" }), {
      version: "1.1",
    });
    const kinds = ["Deployment", "StatefulSet"];
    return objects.find((each) => kinds.includes(String(each.get("kind"))))?.toJS();
  };

  for (const [store, values, pods] of [
    ["PostgreSQL", [], 2],
    ["SQLite", ["secret.databaseUrl="], 1],
  ] as const)
    it(`starts ${pods} of its pods on ${store}, and somebody logs in through a proxy`, () => {
      const file = join(folder, "Caddyfile");
      writeFileSync(file, caddyfile(pods));
      const workload = workloadOf(values);
      const names = Array.from({ length: pods }, (_, at) => `idsvc-${at}`);
      assert.equal(workload.spec.replicas, pods);
      const told = onMachine(
        `${begun}
        mkdir secret; openssl rand -base64 32 > secret/master-key; echo in-the-secret > password
        echo postgres://idsvc:in-the-secret@postgres/idsvc > secret/database-url
        docker network create --subnet ${subnet} cluster
        docker run -d --name postgres --network cluster -e POSTGRES_USER=idsvc -e POSTGRES_DB=idsvc -e POSTGRES_INITDB_ARGS=--encoding=UTF8 \\
          -e POSTGRES_PASSWORD_FILE=/run/secrets/password -v $PWD/password:/run/secrets/password:ro -v database:/var/lib/postgresql/data postgres:17
        wait_for postgres docker exec postgres pg_isready --username=idsvc --dbname=idsvc
        ${podsUp(workload, "cluster", "secret")}
        docker run -d --name caddy --network cluster -v $PWD/Caddyfile:/etc/caddy/Caddyfile:ro -v certificates:/data caddy:2
        for pod in ${names.join(" ")}; do
          docker exec $pod idsvc bootstrap > told 2>/dev/null && break
        done
        ${useBy("id.example.com", names)}
        docker exec idsvc-0 ${workload.spec.template.spec.containers[0].lifecycle.preStop.exec.command.map(quoted).join(" ")}`,
        [...given, file],
      );
      requireUse(told);
    });
});
