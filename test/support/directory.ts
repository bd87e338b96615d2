import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makeCertificate } from "./certificate.ts";
import { freePort } from "./free-port.ts";

/** A directory server of its own, on ports of its own. */
export type Directory = AsyncDisposable & {
  url: string;
  tlsUrl: string;
  /** The authority that vouches for it, as PEM. */
  ca: string;
  baseDn: string;
  bindDn: string;
  bindPassword: string;
  /** Ends without a word. */
  kill(): Promise<void>;
};

/** An entry of a person: attributes, and the password. */
export type Person = { uid: string; password: string } & Record<string, string>;

const places = ["/usr/sbin/slapd", "/usr/lib/openldap/slapd"];
const schemas = ["core", "cosine", "inetorgperson"].map(
  (name) => `/etc/ldap/schema/${name}.schema`,
);
const startMs = 10_000;

/**
 * Starts OpenLDAP with these people, as a user without rights when we are root. Tests that need it fail where it lacks.
 *
 * @throws Error when no slapd is installed
 */
export async function startDirectory(people: readonly Person[]): Promise<Directory> {
  const program = places.find((place) => existsSync(place));
  if (program === undefined) throw new Error("no slapd: apt-get install slapd");
  const folder = mkdtempSync(join(tmpdir(), "idsvc-ldap-"));
  const [data, conf, ldif] = ["data", "slapd.conf", "data.ldif"].map((name) => join(folder, name));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const baseDn = "dc=directory,dc=test";
  const bindDn = `cn=reader,${baseDn}`;
  const bindPassword = "the reader's password";
  makeCertificate(cert, key);
  mkdirSync(String(data));
  writeFileSync(String(conf), configuration(folder, baseDn, bindDn, bindPassword));
  writeFileSync(String(ldif), entries(baseDn, people));
  const user = unprivileged();
  if (user !== undefined) {
    for (const path of [folder, data, conf, ldif, cert, key]) {
      chownSync(String(path), user.uid, user.gid);
    }
  }
  const modules = ["-f", String(conf)];
  execFileSync(program, ["-Ta", ...modules, "-l", String(ldif)], { ...user, stdio: "pipe" });
  const [port, tlsPort] = [await freePort(), await freePort()];
  const [url, tlsUrl] = [`ldap://localhost:${port}`, `ldaps://localhost:${tlsPort}`];
  const listens = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${tlsPort}/`;
  const server = spawn(program, [...modules, "-h", listens, "-d", "0"], {
    ...user,
    stdio: "ignore",
  });
  await answering(server, port);
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  return {
    url,
    tlsUrl,
    baseDn,
    bindDn,
    bindPassword,
    kill,
    ca: readFileSync(cert, "utf8"),
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const configuration = (folder: string, baseDn: string, bindDn: string, password: string) => `
${schemas.map((path) => `include ${path}`).join("\n")}
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile ${folder}/pid
TLSCertificateFile ${folder}/cert.pem
TLSCertificateKeyFile ${folder}/key.pem
disallow bind_anon
database mdb
maxsize 8388608
dbnosync
suffix "${baseDn}"
rootdn "${bindDn}"
rootpw "${password}"
directory ${folder}/data
access to attrs=userPassword by anonymous auth by * none
access to * by users read by * none
`;

function entries(baseDn: string, people: readonly Person[]): string {
  const entry = ({ uid, password, ...more }: Person) =>
    [
      `dn: uid=${uid},${baseDn}`,
      "objectClass: inetOrgPerson",
      `uid: ${uid}`,
      `userPassword: ${password}`,
      ...Object.entries({ cn: uid, sn: uid, ...more }).map(([name, value]) => `${name}: ${value}`),
    ].join("\n");
  const root = `dn: ${baseDn}\nobjectClass: dcObject\nobjectClass: organization\no: test\ndc: directory`;
  return `${[root, ...people.map(entry)].join("\n\n")}\n`;
}

function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((each) => each.startsWith("nobody:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) throw new Error("there is no user nobody");
  return { uid: Number(uid), gid: Number(gid) };
}

async function answering(server: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + startMs;
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch (error) {
      if (Date.now() > deadline || server.exitCode !== null) throw error;
      await delay(20);
    } finally {
      socket.destroy();
    }
  }
}
