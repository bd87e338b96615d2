// Run: alone, early
import { after } from "node:test";
import { describeSignedOut } from "./ahead.ts";
import { describeLists } from "./lists.ts";
import { describeSessions } from "./sessions.ts";
import { endVisits } from "./visits.ts";

after(endVisits);

describeLists();
describeSessions();
describeSignedOut();
