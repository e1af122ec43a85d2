// Tells kittymux which conversation this opencode is in, and what it is at. It holds nothing up: each
// event is one short program, started without waiting. "kittymux hooks remove opencode" takes it out.
import { spawn } from "node:child_process";

const inner = new Set(); // conversations that an agent inside began
const busy = new Set();
let last = Promise.resolve();

const tell = (event) => {
  const one = () =>
    new Promise((done) => {
      try {
        const child = spawn(program, ["hook", agent], { stdio: ["pipe", "ignore", "ignore"] });
        child.on("error", done);
        child.on("close", done);
        child.stdin.on("error", () => {});
        child.stdin.end(JSON.stringify(event));
      } catch {
        done();
      }
    });
  last = last.then(one, one);
};

export const KittymuxHooks = async ({ directory }) => ({
  event: async ({ event }) => {
    const about = event?.properties ?? {};
    const id = about.sessionID ?? about.info?.id;
    if (typeof id !== "string") return;
    if (about.info?.parentID) inner.add(id);
    if (inner.has(id)) return;
    const says = (type) => tell({ type, sessionID: id, directory: about.info?.directory ?? directory });
    const state = about.status?.type;
    if (event.type === "session.status" && state === "busy") {
      if (!busy.has(id)) says("session.busy");
      busy.add(id);
    } else if (event.type === "session.idle" || (event.type === "session.status" && state === "idle")) {
      if (busy.delete(id)) says("session.idle");
    } else if (["session.created", "permission.asked", "permission.updated"].includes(event.type)) {
      says(event.type);
    }
  },
});
