import express from "express";
import { host, port } from "./place.ts";

const app = express();
app.get("/", (_, response) => void response.send("hello"));
app.get("/readyz", (_, response) => void response.send("ok"));
app.listen(port, host);
