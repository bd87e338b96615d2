import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { settle } from "./deb.ts";
import type { Architecture } from "./installation.ts";

/** What an image runs, as the OCI image specification names it. */
export type Settings = Record<string, unknown>;
/** A blob as others name it. */
export type Descriptor = { mediaType: string; digest: string; size: number };
export type Layer = { blob: Descriptor; diffId: string };

const typeOf = (kind: string) => `application/vnd.oci.image.${kind}`;
const sha256 = (bytes: Uint8Array): string =>
  `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** An image of one platform, and the blobs that it is made of. */
export type Image = {
  manifest: Descriptor & { platform: { architecture: Architecture; os: "linux" } };
  config: Descriptor;
  layers: readonly Descriptor[];
};

const versions = { schemaVersion: 2, mediaType: typeOf("index.v1+json") };

/** An OCI image layout: a folder of which every tool for images can take the images, for all platforms, by one tag. */
export class Layout {
  readonly #folder: string;
  readonly #date: number;

  constructor(folder: string, date: number) {
    this.#folder = folder;
    this.#date = date;
    mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
    writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  }

  /** A layer of what stands below a folder. Names are sorted, owners by number, times one: equal files give equal bytes. */
  layer(folder: string, owner = 0): Layer {
    const tar = archiveOf(folder, this.#date, owner);
    const blob = this.#blob(typeOf("layer.v1.tar+gzip"), gzipSync(tar, { level: 9 }));
    return { blob, diffId: sha256(tar) };
  }

  image(architecture: Architecture, settings: Settings, all: readonly Layer[]): Image {
    const created = new Date(this.#date * 1000).toISOString();
    const rootfs = { type: "layers", diff_ids: all.map(({ diffId }) => diffId) };
    const layers = all.map(({ blob }) => blob);
    const config = this.#json(typeOf("config.v1+json"), {
      created,
      architecture,
      os: "linux",
      config: settings,
      rootfs,
    });
    const mediaType = typeOf("manifest.v1+json");
    const manifest = this.#json(mediaType, { schemaVersion: 2, mediaType, config, layers });
    return { manifest: { ...manifest, platform: { architecture, os: "linux" } }, config, layers };
  }

  /** Gives the images their tag. */
  close(images: readonly Image[], tag: string): void {
    const manifests = images.map(({ manifest }) => manifest);
    const index = this.#json(versions.mediaType, { ...versions, manifests });
    this.#write("index.json", { ...versions, manifests: [{ ...index, annotations: named(tag) }] });
  }

  /** Writes one image as a file that `docker load` and `podman load` take, those of before OCI too (`manifest.json`). */
  archive(image: Image, tag: string, file: string): void {
    const folder = mkdtempSync(`${this.#folder}-`);
    const alone = new Layout(folder, this.#date);
    const { manifest, config, layers } = image;
    const all = [manifest, config, ...layers].map(pathOf);
    for (const path of all) copyFileSync(join(this.#folder, path), join(folder, path));
    alone.#write("index.json", {
      ...versions,
      manifests: [{ ...manifest, annotations: named(tag) }],
    });
    alone.#write("manifest.json", [
      { Config: pathOf(config), RepoTags: [tag], Layers: layers.map(pathOf) },
    ]);
    settle(folder, this.#date);
    writeFileSync(file, archiveOf(folder, this.#date));
    rmSync(folder, { recursive: true });
  }

  #json(mediaType: string, value: unknown): Descriptor {
    return this.#blob(mediaType, Buffer.from(JSON.stringify(value)));
  }

  #blob(mediaType: string, bytes: Uint8Array): Descriptor {
    const blob = { mediaType, digest: sha256(bytes), size: bytes.length };
    writeFileSync(join(this.#folder, pathOf(blob)), bytes);
    return blob;
  }

  #write(name: string, value: unknown): void {
    writeFileSync(join(this.#folder, name), JSON.stringify(value));
  }
}

const pathOf = ({ digest }: Descriptor): string => `blobs/${digest.replace(":", "/")}`;

const named = (tag: string) => ({
  "org.opencontainers.image.ref.name": tag.replace(/^.*:/, ""),
  "io.containerd.image.name": `docker.io/library/${tag}`,
});

function archiveOf(folder: string, date: number, owner = 0): Buffer {
  // Not the folder itself: the root of an image is no layer's.
  const names = readdirSync(folder).toSorted();
  const settled = ["--sort=name", `--mtime=@${date}`, "--format=gnu", "--numeric-owner"];
  const owned = [`--owner=${owner}`, `--group=${owner}`];
  return execFileSync("tar", ["-c", ...settled, ...owned, "-C", folder, ...names], {
    maxBuffer: 2 ** 30,
  });
}
