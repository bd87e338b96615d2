export const port = Number(process.env["PORT"]);
export const host = "127.0.0.1";
