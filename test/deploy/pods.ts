import assert from "node:assert/strict";

type Named = { name: string };
type Container = Named & {
  image: string;
  env: (Named & { value: string })[];
  securityContext: { readOnlyRootFilesystem: boolean; capabilities: { drop: string[] } };
  volumeMounts: (Named & { mountPath: string; readOnly?: boolean })[];
  startupProbe: { httpGet: { path: string; port: string } };
  ports: (Named & { containerPort: number })[];
};
type Volume = Named & {
  secret?: { defaultMode: number; items: { key: string; path: string }[] };
  emptyDir?: object;
};
/** What the chart says of its pods. */
export type Workload = {
  spec: {
    replicas: number;
    template: {
      spec: {
        securityContext: { runAsUser: number; runAsGroup: number; fsGroup: number };
        containers: [Container];
        volumes: Volume[];
      };
    };
    volumeClaimTemplates?: { metadata: Named }[];
  };
};

/**
 * The commands that start the pods of a workload in a network, each with files and folders of the modes that Kubernetes gives them,
 * and wait until each is ready (`waitFor`).
 *
 * @param secret the folder that holds a file for each key of the secret
 */
export function podsUp({ spec }: Workload, network: string, secret: string): string {
  const { securityContext, containers, volumes } = spec.template.spec;
  const [container] = containers;
  const { fsGroup, runAsUser, runAsGroup } = securityContext;
  const claimed = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name,
  }));
  const { httpGet } = container.startupProbe;
  const port = container.ports.find(({ name }) => name === httpGet.port)?.containerPort;
  assert.ok(port);
  return Array.from({ length: spec.replicas }, (_, at) => {
    const pod = `idsvc-${at}`;
    const folderOf = (name: string) => `/pods/${pod}/${name}`;
    return [
      ...[...volumes, ...claimed].flatMap((volume) =>
        filled(volume, folderOf(volume.name), fsGroup, secret),
      ),
      [
        `docker run -d --name ${pod} --network ${network} --user ${runAsUser}:${runAsGroup}`,
        ...(container.securityContext.readOnlyRootFilesystem ? ["--read-only"] : []),
        ...container.securityContext.capabilities.drop.map((each) => `--cap-drop ${each}`),
        ...container.env.map(({ name, value }) => `-e ${name}=${value}`),
        ...container.volumeMounts.map(
          ({ name, mountPath, readOnly }) =>
            `-v ${folderOf(name)}:${mountPath}${readOnly ? ":ro" : ""}`,
        ),
        container.image,
      ].join(" "),
      `wait_for ${pod} curl -fsS http://${pod}:${port}${httpGet.path}`,
    ].join("\n");
  }).join("\n");
}

function filled(volume: Volume, folder: string, group: number, secret: string): string[] {
  if (volume.secret === undefined) return [`install -d -m 2777 -g ${group} ${folder}`];
  const { defaultMode, items } = volume.secret;
  return [
    `install -d -m 755 ${folder}`,
    ...items.map(
      ({ key, path }) =>
        `install -m ${defaultMode.toString(8)} -g ${group} ${secret}/${key} ${folder}/${path}`,
    ),
  ];
}
