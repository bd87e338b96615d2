import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { goCommand } from "./go.ts";
import { kubernetesSchemas } from "./kubernetes-schemas.ts";

const root = resolve(import.meta.dirname, "../..");
const chart = join(root, "deploy/helm/idsvc");
const must = ["externalUrl=https://id.example.com", "secret.name=idsvc"];
const kubernetes = "v1.37.2";
/** The chart as objects; a helm that Go alone has built takes an old Kubernetes for granted. */
const template = ["template", "--kube-version", kubernetes];
const set = (values: readonly string[]) => values.flatMap((value) => ["--set", value]);

const folder = mkdtempSync(join(tmpdir(), "idsvc-helm-"));
after(() => rmSync(folder, { recursive: true }));

let helm: string;
let kubeconform: string;
let schemas: string;
before(() => {
  helm = goCommand("helm.sh/helm/v3/cmd/helm", "v3.22.0");
  kubeconform = goCommand("github.com/yannh/kubeconform/cmd/kubeconform", "v0.8.0");
  schemas = kubernetesSchemas(kubernetes);
});

// oxlint-disable-next-line no-explicit-any -- what the objects hold is what the test says.
type Objects = Map<string, any>;

const judge = (input: string) =>
  spawnSync(kubeconform, ["-strict", "-summary", "-schema-location", schemas, "-"], {
    input,
    encoding: "utf8",
  });

/** What the chart makes of values, accepted by the schemas of Kubernetes; by kind. */
function rendered(values: readonly string[]): Objects {
  const text = execFileSync(helm, [...template, "idsvc", chart, ...set([...must, ...values])], {
    encoding: "utf8",
  });
  const { status, stdout } = judge(text);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /Invalid: 0, Errors: 0, Skipped: 0/);
  return new Map(parseAllDocuments(text).map((each) => [String(each.get("kind")), each.toJS()]));
}

describe("the chart", () => {
  it("passes the lint of helm", () => {
    execFileSync(helm, ["lint", "--strict", "--quiet", chart, ...set(must)], { stdio: "pipe" });
  });

  it("installs by the printed command", () => {
    const page = readFileSync(join(root, "docs/deploy/kubernetes.md"), "utf8");
    const [, command = ""] = /```sh\n(.*?)```/s.exec(page) ?? [];
    execFileSync("sh", ["-euc", command.replace("helm install", `helm ${template.join(" ")}`)], {
      cwd: root,
      env: { ...process.env, PATH: `${dirname(helm)}:${process.env["PATH"]}` },
      stdio: ["ignore", "pipe", "inherit"],
    });
  });

  it("makes replicas on PostgreSQL that hold no power, and that may be taken away one by one", () => {
    const objects = rendered([]);
    const kinds = ["Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"];
    assert.deepEqual([...objects.keys()].toSorted(), kinds);
    const { spec } = objects.get("Deployment");
    assert.equal(spec.replicas, 2);
    const pod = spec.template.spec;
    assert.equal(pod.automountServiceAccountToken, false);
    assert.equal(pod.securityContext.runAsNonRoot, true);
    assert.deepEqual(pod.securityContext.seccompProfile, { type: "RuntimeDefault" });
    const [container] = pod.containers;
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"])
      assert.equal(container[probe].httpGet.port, "http");
    const files = pod.volumes[0].secret.items.map(({ path }: { path: string }) => path);
    assert.deepEqual(files, ["master-key", "database-url"]);
  });

  it("is judged by schemas that refuse what they do not know", () => {
    const service = "apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec: { prots: [] }\n";
    const { status, stdout } = judge(service);
    assert.equal(status, 1);
    assert.match(stdout, /prots/);
  });

  it("makes one replica with a volume on SQLite", () => {
    const objects = rendered(["secret.databaseUrl=", "persistence.size=2Gi"]);
    const kinds = ["NetworkPolicy", "Service", "StatefulSet"];
    assert.deepEqual([...objects.keys()].toSorted(), kinds);
    const { replicas, volumeClaimTemplates } = objects.get("StatefulSet").spec;
    assert.equal(replicas, 1);
    assert.equal(volumeClaimTemplates[0].spec.resources.requests.storage, "2Gi");
  });

  it("makes all that can be asked for", () => {
    const objects = rendered([
      "autoscaling.enabled=true",
      "ingress.enabled=true",
      "ingress.className=nginx",
      "ingress.tlsSecretName=tls",
      "trustedProxies={10.0.0.0/8,fd00::/8}",
      "options.IDSVC_PROCESSES=auto",
      "image.pullSecrets={registry}",
      "service.port=8080",
      "networkPolicy.from[0].podSelector.matchLabels.app=proxy",
      "podAnnotations.a=b",
      "networkPolicy.to[0].ipBlock.cidr=192.0.2.0/24",
      "nodeSelector.disk=fast",
    ]);
    assert.equal(objects.get("Deployment").spec.replicas, undefined);
    assert.equal(objects.get("HorizontalPodAutoscaler").spec.maxReplicas, 6);
    assert.equal(objects.get("Ingress").spec.rules[0].host, "id.example.com");
    assert.equal(objects.get("NetworkPolicy").spec.egress.length, 2);
    const { env } = objects.get("Deployment").spec.template.spec.containers[0];
    const told = new Map(env.map(({ name, value }: Record<string, string>) => [name, value]));
    assert.equal(told.get("IDSVC_TRUSTED_PROXIES"), "10.0.0.0/8,fd00::/8");
    assert.equal(told.get("IDSVC_PROCESSES"), "auto");
  });

  for (const [wrong, value] of [
    ["externalUrl", "externalUrl=https://id.example.com/path"],
    ["secret/name", "secret.name="],
    ["replicas", "replicas=two"],
    ["replica", "replica=3"],
    ["propertyName 'IDSVC_MASTER_KEY'", "options.IDSVC_MASTER_KEY=x"],
    ["propertyName 'PORT'", "options.PORT=1"],
    ["service/port", "service.port=0"],
    ["trustedProxies/0", "trustedProxies={everybody}"],
    ["autoscaling/enabled", "secret.databaseUrl=,autoscaling.enabled=true"],
  ] as const)
    it(`refuses ${value}`, () => {
      const { status, stderr } = spawnSync(
        helm,
        [...template, "idsvc", chart, ...set([...must, value])],
        { encoding: "utf8" },
      );
      assert.equal(status, 1);
      assert.match(stderr, /values don't meet the specifications of the schema/);
      assert.ok(stderr.includes(wrong), stderr);
    });

  it("needs to be told where the service is reached", () => {
    const values = join(folder, "none.yaml");
    writeFileSync(values, "{}");
    const { stderr } = spawnSync(helm, [...template, "idsvc", chart, "-f", values], {
      encoding: "utf8",
    });
    for (const name of ["externalUrl", "name"]) assert.ok(stderr.includes(name), stderr);
  });
});
