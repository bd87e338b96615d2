import type { Sample } from "./declare.ts";

// Each is a whole program of one file, which begins with how it is run: people log in to it, and it tells what it came to know
// of them.

/** An application as programs set it up. */
export type Client = {
  issuer: string;
  id: string;
  scope: string;
  redirect: string;
  /** How it proves itself; a key would need a file beside the program. */
  proof: "basic" | "post" | "none";
};

/** A text as all the languages here write it, wherever it stands. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll("<", "\\u003c");

const isPlain = ({ issuer }: Client): boolean => issuer.startsWith("http:");
const hasSecret = ({ proof }: Client): boolean => proof !== "none";

/** Where a program is opened, and where it listens: behind a proxy where its address names no port. */
function placeOf({ redirect }: Client) {
  const { origin = "", port = "", pathname = "/" } = URL.parse(redirect) ?? {};
  return { origin, port: port || "3000", path: pathname };
}

/** The command that runs a program, and the address to open then. */
const run = (client: Client, command: string): string =>
  `${hasSecret(client) ? "OIDC_CLIENT_SECRET=... " : ""}${command}, then open ${placeOf(client).origin}`;

/** The scopes as a list of texts. */
const scopes = ({ scope }: Client): string => scope.split(" ").map(quoted).join(", ");

export function nodeProgram(client: Client): Sample[] {
  const { issuer, id, redirect, scope, proof } = client;
  const secret = "process.env.OIDC_CLIENT_SECRET";
  const proofs = {
    basic: `oidc.ClientSecretBasic(${secret})`,
    post: `oidc.ClientSecretPost(${secret})`,
    none: "oidc.None()",
  };
  const library = "openid-client";
  const text = `// npm install ${library}
// ${run(client, "node app.mjs")}
import * as oidc from ${quoted(library)};
import { createServer } from "node:http";

const redirectUri = ${quoted(redirect)};
const config = await oidc.discovery(
  new URL(${quoted(issuer)}),
  ${quoted(id)},
  {},
  ${proofs[proof]},${
    isPlain(client)
      ? "\n  { execute: [oidc.allowInsecureRequests] }, // without TLS: for development only"
      : ""
  }
);

async function answer(request, response) {
  const url = new URL(request.url, redirectUri);
  if (url.searchParams.has("state")) {
    const [, expectedState, pkceCodeVerifier] =
      /login=([\\w-]+)\\.([\\w-]+)/.exec(request.headers.cookie) ?? [];
    const tokens = await oidc.authorizationCodeGrant(config, url, { expectedState, pkceCodeVerifier });
    const person = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify(person, undefined, 2));
  }
  const [state, codeVerifier] = [oidc.randomState(), oidc.randomPKCECodeVerifier()];
  const location = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: ${quoted(scope)},
    state,
    code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
  });
  const cookie = \`login=\${state}.\${codeVerifier}; HttpOnly; SameSite=Lax; Path=/\`;
  response.writeHead(302, { location: location.href, "set-cookie": cookie }).end();
}

createServer((request, response) =>
  answer(request, response).catch((error) => response.writeHead(500).end(String(error))),
).listen(${placeOf(client).port});`;
  return [{ name: "Node.js: openid-client", text }];
}

export function pythonProgram(client: Client): Sample[] {
  const { issuer, id, redirect, scope, proof } = client;
  const { port, path } = placeOf(client);
  const method = { basic: "client_secret_basic", post: "client_secret_post", none: "none" }[proof];
  const secret = `\n    client_secret=os.environ["OIDC_CLIENT_SECRET"],`;
  const text = `# pip install authlib flask requests
# ${run(client, "python app.py")}
import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, request
${isPlain(client) ? `\nos.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # without TLS: for development only\n` : ""}
app = Flask(__name__)
app.secret_key = os.urandom(32)  # whoever is logging in begins anew when the program does
idsvc = OAuth(app).register(
    "idsvc",
    server_metadata_url=${quoted(`${issuer}/.well-known/openid-configuration`)},
    client_id=${quoted(id)},${hasSecret(client) ? secret : ""}
    client_kwargs={
        "scope": ${quoted(scope)},
        "code_challenge_method": "S256",
        "token_endpoint_auth_method": ${quoted(method)},
    },
)


@app.get("/")${path === "/" ? "" : `\n@app.get(${quoted(path)})`}
def answer():
    if "state" in request.args:
        token = idsvc.authorize_access_token()
        return jsonify(idsvc.userinfo(token=token))
    return idsvc.authorize_redirect(${quoted(redirect)})


app.run(port=${port})`;
  return [{ name: "Python: Authlib, Flask", text }];
}

export function goProgram(client: Client): Sample[] {
  const { issuer, id, redirect, proof } = client;
  const { port } = placeOf(client);
  const secret = `\n\t\tClientSecret: os.Getenv("OIDC_CLIENT_SECRET"),`;
  const text = `// go mod init app && go mod tidy
// ${run(client, "go run .")}
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"${hasSecret(client) ? '\n\t"os"' : ""}
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func main() {
	provider, err := oidc.NewProvider(context.Background(), ${quoted(issuer)})
	if err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{
		ClientID:     ${quoted(id)},${hasSecret(client) ? secret : ""}
		Endpoint:     provider.Endpoint(),
		RedirectURL:  ${quoted(redirect)},
		Scopes:       []string{${scopes(client)}},
	}
	config.Endpoint.AuthStyle = oauth2.${proof === "basic" ? "AuthStyleInHeader" : "AuthStyleInParams"}

	signIn := func(r *http.Request) (claims map[string]any, err error) {
		cookie, err := r.Cookie("login")
		if err != nil {
			return nil, err
		}
		state, verifier, _ := strings.Cut(cookie.Value, ".")
		if r.FormValue("state") != state {
			return nil, errors.New("the answer is to another browser")
		}
		token, err := config.Exchange(r.Context(), r.FormValue("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			return nil, err
		}
		raw, _ := token.Extra("id_token").(string)
		idToken, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(r.Context(), raw)
		if err != nil {
			return nil, err
		}
		person, err := provider.UserInfo(r.Context(), oauth2.StaticTokenSource(token))
		if err != nil {
			return nil, err
		}
		if person.Subject != idToken.Subject {
			return nil, errors.New("the answers are about two people")
		}
		return claims, person.Claims(&claims)
	}

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("state") {
			state, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
			cookie := http.Cookie{Name: "login", Value: state + "." + verifier, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
			http.SetCookie(w, &cookie)
			http.Redirect(w, r, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusFound)
			return
		}
		claims, err := signIn(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(claims)
	})
	log.Fatal(http.ListenAndServe(":${port}", nil))
}`;
  return [{ name: "Go: go-oidc", text }];
}

// What the program below was tried with.
const springBoot = "4.0.7";

const dependency = (name: string): string => `    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>${name}</artifactId>
    </dependency>`;

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>${springBoot}</version>
  </parent>
  <groupId>example</groupId>
  <artifactId>app</artifactId>
  <version>1</version>
  <dependencies>
${["spring-boot-starter-webmvc", "spring-boot-starter-security-oauth2-client"].map(dependency).join("\n")}
  </dependencies>
</project>`;

export function javaProgram(client: Client): Sample[] {
  const { issuer, id, redirect, proof } = client;
  const { port, path } = placeOf(client);
  // There the framework would take each request for the answer to a log-in.
  if (path === "/") return [];
  const method = { basic: "CLIENT_SECRET_BASIC", post: "CLIENT_SECRET_POST", none: "NONE" }[proof];
  const secret = `\n        .clientSecret(System.getenv("OIDC_CLIENT_SECRET"))`;
  const text = `// src/main/java/App.java, and pom.xml beside src
// ${run(client, "mvn spring-boot:run")}
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.client.registration.InMemoryClientRegistrationRepository;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@EnableAutoConfiguration
public class App {
  public static void main(String[] args) {
    System.setProperty("server.port", "${port}");
    SpringApplication.run(App.class, args);
  }

  @Bean
  ClientRegistrationRepository clients() {
    return new InMemoryClientRegistrationRepository(
      ClientRegistrations.fromIssuerLocation(${quoted(issuer)})
        .registrationId("idsvc")
        .clientId(${quoted(id)})${hasSecret(client) ? secret : ""}
        .clientAuthenticationMethod(ClientAuthenticationMethod.${method})
        .redirectUri(${quoted(redirect)})
        .scope(${scopes(client)})
        .build());
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http) throws Exception {
    return http
      .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
      .oauth2Login(login -> login.redirectionEndpoint(answers -> answers.baseUri(${quoted(path)})))
      .build();
  }

  @GetMapping("/")
  Map<String, Object> answer(@AuthenticationPrincipal OidcUser person) {
    return person.getUserInfo().getClaims();
  }
}`;
  return [
    { name: "Java: Spring Boot, pom.xml", text: pom },
    { name: "Java: Spring Boot, App.java", text },
  ];
}

/** A page that runs in browsers alone. */
export function page(client: Client): Sample {
  const { issuer, id, redirect, scope } = client;
  const { port } = placeOf(client);
  const text = `<!doctype html>
<!-- index.html: npm install vite oidc-client-ts -->
<!-- ${run(client, `npx vite --port ${port}`)} -->
<title>App</title>
<pre id="person"></pre>
<script type="module">
  import { UserManager } from "oidc-client-ts";

  const users = new UserManager({
    authority: ${quoted(issuer)},
    client_id: ${quoted(id)},
    redirect_uri: ${quoted(redirect)},
    scope: ${quoted(scope)},
    loadUserInfo: true,
  });
  const isBack = new URLSearchParams(location.search).has("state");
  const user = isBack ? await users.signinRedirectCallback() : await users.getUser();
  if (isBack) history.replaceState(null, "", "/");
  if (user === null) await users.signinRedirect();
  else document.getElementById("person").textContent = JSON.stringify(user.profile, null, 2);
</script>`;
  return { name: "JavaScript: oidc-client-ts", text };
}
