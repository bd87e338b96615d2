import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

const der = (tag: number, ...content: Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  const { length } = body;
  const size =
    length < 0x80
      ? [length]
      : length < 0x100
        ? [0x81, length]
        : length < 0x10000
          ? [0x82, length >> 8, length & 0xff]
          : [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...content: Uint8Array[]) => der(0x30, ...content);
const integer = (bytes: Uint8Array) => der(0x02, bytes);
const bits = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);
const time = (text: string) => der(0x17, Buffer.from(text, "ascii"));

// sha256WithRSAEncryption and commonName, as DER.
const algorithm = sequence(Buffer.from("06092a864886f70d01010b0500", "hex"));
const commonName = Buffer.from("0603550403", "hex");

/**
 * A certificate that an RSA key makes for itself, in PEM: providers of SAML want one around the key that requests are
 * signed with, and look at nothing but the key. The same key and name always give the same certificate.
 *
 * Source: RFC 5280 section 4.1.
 */
export function selfSigned(privateKeyPem: string, name: string): string {
  const key = createPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  const serial = createHash("sha256").update(publicKey).digest().subarray(0, 16);
  serial[0] = (Number(serial[0]) & 0x3f) | 0x40;
  const subject = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(name, "utf8")))));
  const validity = sequence(time("200101000000Z"), time("491231235959Z"));
  const version = der(0xa0, integer(Buffer.from([2])));
  const certificate = sequence(
    version,
    integer(serial),
    algorithm,
    subject,
    validity,
    subject,
    publicKey,
  );
  const signature = sign("sha256", certificate, key);
  const whole = sequence(certificate, algorithm, bits(signature)).toString("base64");
  const lines = whole.match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
