import http from "node:http";
import { host, port } from "./place.ts";

http.createServer((_, response) => response.end("hello")).listen(port, host);
