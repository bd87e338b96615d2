/** A hash that another program made of a password. */
export type Vector = { scheme: string; password: string; encoded: string };

const horse = "correct horse";
const wide = "Straße éñ 🔑";
const long = "x".repeat(150);

const of = (scheme: string, password: string, ...hashes: string[]): Vector[] =>
  hashes.map((encoded) => ({ scheme, password, encoded }));

// python3 -c 'import crypt; print(crypt.crypt(PASSWORD, SETTING))', libxcrypt 4.4.33; a setting is the hash without its
// last part.
const crypt = [
  ...of("md5-crypt", horse, "$1$saltsalt$NuzA7WTAelpl95xgBGWN60"),
  ...of("md5-crypt", "", "$1$saltsalt$5Jhcit4zN9UlGiA0txPkO0"),
  ...of("md5-crypt", long, "$1$saltsalt$VZKsp5oSotC1Vhnrc.W4O/"),
  ...of("sha256-crypt", horse, "$5$saltsaltsaltsalt$vzxOvVGSAthqKsVBFh1uWPorUBPL5g6mz42rSF1xpk5"),
  ...of("sha256-crypt", wide, "$5$rounds=1000$s$wjVpg.XP7XFx5FDU6eKnWxDQ9pIrsoYJNAki1k5Kkj6"),
  ...of(
    "sha256-crypt",
    long,
    "$5$rounds=1000$saltstring$XcMtym3F9E2g44o6TA303Tzw43gyNoqKZrvlRj2YDq8",
  ),
  ...of(
    "sha512-crypt",
    horse,
    "$6$rounds=1234$salt$.ckzr3duoxcm3ONDP2wDaeHY21ft5RtQBmnsNqhnT08OWpDEKqIp5.B.eNZsTAvRRigTIku0mdpwISzwdRYCV.",
  ),
  ...of(
    "sha512-crypt",
    wide,
    "$6$saltstring$ztwzFmudNk1hdffTe5BSCiCXpjZw1GCoi2xNz2pLNw1rPT0OA7xhAbckvQV/ZaGSTtbwLrm/s8Pmvx94jv0SG.",
  ),
  ...of(
    "sha512-crypt",
    "",
    "$6$rounds=1000$saltstring$CF.N.0BYYN72qUcyvvSEsw6BVOF30ljypIAf09OO9srNHWPxyxF8MeuK7MXWjGoVlM.3yAAk/owEEJQEYuWsY1",
  ),
  ...of(
    "sha512-crypt",
    long,
    "$6$rounds=1000$saltstring$ZfjpfW9wjOCpXDEtA10YZSv5SLriYoxhDnPw5DeCvjCmD1X0QRtkyR1NRHV/9u3LWL23/eEyp2vIzZHLOUYhk.",
  ),
  ...of(
    "bcrypt",
    horse,
    "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
    "$2y$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
  ),
  ...of("bcrypt", wide, "$2a$05$abcdefghijklmnopqrstuuETHVsP5Fqi4V4MJGQxayzndk2/2NgeG"),
  ...of("bcrypt", "y".repeat(72), "$2b$04$abcdefghijklmnopqrstuuwurWIdVVT4m5pTArtqnFNM69nySdHj."),
  ...of("scrypt", wide, "$7$A6....2....SodiumChloride$P5CYZutsvS29/djS5gA2sw7JYktE0t4QZXJ3f/srPG1"),
];

// openssl passwd -1|-apr1|-5|-6 -salt SALT "correct horse", OpenSSL 3.0.19
const openssl = [
  ...of(
    "md5-crypt",
    horse,
    "$1$abcdefgh$y6iHhJNbuC0xpbk0w9pm80",
    "$apr1$abcd$qp1Rh2kzt5IiGwlmwl3/r0",
  ),
  ...of("sha256-crypt", horse, "$5$pepper$I4JtT7ItqoiFALROk4x2EglL0RlsbnhesIq3gG3GPF."),
  ...of(
    "sha512-crypt",
    horse,
    "$6$pepper$eAQtOs5x0BUdulxAzj/qxBsQ9HFx8qUdjHdmS5FKODGOE8BFTsJrCWsboofymbihUgXKFBAmtfkCIaLiwpYd11",
  ),
];

// python3, passlib 1.7.4: passlib.hash.<scheme>.using(salt=..., rounds=...).hash(PASSWORD)
const passlib = [
  ...of("phpass", horse, "$P$6saltsaltm5kzegSSYLpteeiemmHd3/"),
  ...of("phpass", wide, "$H$9abcdefghviKq4ZNtGfXWs2CbFoTvt/"),
  ...of(
    "scrypt",
    horse,
    "$scrypt$ln=10,r=8,p=2$c2FsdHNhbHRzYWx0$TeMDDwfxkx3jvETxzGN5IdCCG06h/emi3eSf1zTy9xo",
    "$7$ln=10,r=8,p=2$c2FsdHNhbHRzYWx0$TeMDDwfxkx3jvETxzGN5IdCCG06h/emi3eSf1zTy9xo",
  ),
  ...of("pbkdf2-sha1", horse, "$pbkdf2$1000$.//.c2FsdA$xu2YW2B6oQx7C6z0f8eL.h9rXO4"),
  ...of(
    "pbkdf2-sha256",
    wide,
    "$pbkdf2-sha256$1000$.//.c2FsdA$QY0yDgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21XhhE",
    "$pbkdf2-sha256$1000$+//+c2FsdA==$QY0yDgmQRK6bm2mu+pjoggVw9ktlXOGFtDnof21XhhE=",
  ),
  ...of(
    "pbkdf2-sha512",
    horse,
    "$pbkdf2-sha512$1000$c2FsdHNhbHQ$.sUSD8jw4f8ns7m9b7kj8PeJLe8lJXO8Am09BLgO79kST9D/Ija5aKINGF5Xg7hkKXw1.fNhBzzJP3eIXcWXww",
  ),
];

// python3: hashlib.pbkdf2_hmac(DIGEST, b"correct horse", b"sixteen byte slt", 2000, LENGTH), as specification 11.13 has it;
// 64 bytes of SHA-256 are longer than the digest.
const generic = [
  ...of(
    "pbkdf2-sha1",
    horse,
    "$pbkdf2-sha1$2000$c2l4dGVlbiBieXRlIHNsdA==$wIw84Xsd5JHYoWgnF5wFKlS7PHo=",
  ),
  ...of(
    "pbkdf2-sha224",
    horse,
    "$pbkdf2-sha224$2000$c2l4dGVlbiBieXRlIHNsdA==$Ut+WSkmBpW4osl6o6jDTzNl28myJ2WYIYrb7cQ==",
  ),
  ...of(
    "pbkdf2-sha256",
    horse,
    "$pbkdf2-sha256$2000$c2l4dGVlbiBieXRlIHNsdA==$JZ3T6Nruz7Izjz1jMTqsPz1nVeScb9BPpesTarDtGrkCY1VLozzJ8lWJWsDov/3bKIlPOLEfca5/nsoEwbzPUg==",
  ),
  ...of(
    "pbkdf2-sha384",
    horse,
    "$pbkdf2-sha384$2000$c2l4dGVlbiBieXRlIHNsdA==$b+5NuocRrA1eASNyi+8jJ5epXfUBoJESPbpR8973fQp6Be3gzDKnfcEVk4rvVUvj",
  ),
  ...of(
    "pbkdf2-sha512",
    horse,
    "$pbkdf2-sha512$2000$c2l4dGVlbiBieXRlIHNsdA==$hTxwUyLkB+8Q6dAOa4HS0IGyWArgbR9NX9FoDMzJOQjvFh53iSSnTwBrbDUeUC/hWGRMGRcydsUm8SheoUvi9w==",
  ),
];

// python3: hashlib.md5(b"correct horse"), of it and the salt "c2FsdA==" behind and before
const md5 = [
  ...of("md5", horse, "3cb4e732631f47e6eb961f34554b7cde", "3CB4E732631F47E6EB961F34554B7CDE"),
  ...of(
    "md5-salted",
    horse,
    "$md5salted-suffix$c2FsdA==$bzcjX9ygUPsFyIQLl6NJxg==",
    "$md5salted-prefix$c2FsdA==$AHIbbojE39tFqQiYQ+MIvQ==",
  ),
];

// python3, argon2-cffi: argon2.low_level.hash_secret(PASSWORD, b"saltsalt", time_cost, memory_cost, ...)
const argon2 = [
  ...of(
    "argon2id",
    horse,
    "$argon2id$v=19$m=1024,t=2,p=2$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
  ),
  ...of(
    "argon2i",
    horse,
    "$argon2i$v=19$m=1024,t=2,p=2$c2FsdHNhbHQ$3hCCksGiYN9ZpyNkE1MhNZvlbdqOLTwL",
  ),
  ...of(
    "argon2d",
    horse,
    "$argon2d$v=19$m=1024,t=2,p=2$c2FsdHNhbHQ$JDFjn2yV2yqh87MryYy1Ju+6vQqvZY3M",
  ),
  ...of(
    "argon2i",
    wide,
    "$argon2i$v=16$m=512,t=1,p=1$c2FsdHNhbHQ$1l5C6VnIBSNTqmD/4cm5pvOtKQDGde+nAgHefEs6Ejg",
    "$argon2i$m=512,t=1,p=1$c2FsdHNhbHQ$1l5C6VnIBSNTqmD/4cm5pvOtKQDGde+nAgHefEs6Ejg",
  ),
];

// The example hashes that hashcat publishes of its modes 400, 500, 1800, 3200 and 7900.
const hashcat = [
  ...of("phpass", "hashcat", "$P$984478476IagS59wHZvyQMArzfx58u."),
  ...of("md5-crypt", "hashcat", "$1$28772684$iEwNOgGugqO9.bIz5sk8k/"),
  ...of(
    "sha512-crypt",
    "hashcat",
    "$6$52450745$k5ka2p8bFuSmoVT1tzOyyuaREkkKBcCNqoDKzYiJL9RaE8yMnPgh2XzzF0NDrUhgrcLwg78xs1w5pJiypEdFX/",
  ),
  ...of("bcrypt", "hashcat", "$2a$05$LhayLxezLhK1LhWvKxCyLOj0j1u.Kj0jZ0pEmm134uzrQlFvQJLF6"),
  ...of("drupal7", "hashcat", "$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf"),
];

export const vectors: Vector[] = [
  ...crypt,
  ...openssl,
  ...passlib,
  ...generic,
  ...md5,
  ...argon2,
  ...hashcat,
];
