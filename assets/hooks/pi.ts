// Tells kittymux which conversation this agent is in, and what it is at. It holds nothing up: each
// event is one short program, started without waiting. "kittymux hooks remove" takes it out.
import { spawn, spawnSync } from "node:child_process";

export default function (pi) {
  let last = Promise.resolve();
  let runs = false; // whether this agent tells of whole runs, and not only of their turns

  const text = (type, event, ctx) => {
    let sessionID = "";
    try {
      sessionID = ctx?.sessionManager?.getSessionId?.() ?? "";
    } catch {}
    return JSON.stringify({ type, reason: event?.reason, sessionID, cwd: ctx?.cwd ?? process.cwd() });
  };
  const tell = (type, event, ctx) => {
    const input = text(type, event, ctx);
    const one = () =>
      new Promise((done) => {
        try {
          const child = spawn(program, ["hook", agent], { stdio: ["pipe", "ignore", "ignore"] });
          child.on("error", done);
          child.on("close", done);
          child.stdin.on("error", () => {});
          child.stdin.end(input);
        } catch {
          done();
        }
      });
    last = last.then(one, one);
  };

  pi.on("session_start", (event, ctx) => tell("session_start", event, ctx));
  pi.on("agent_start", (event, ctx) => {
    runs = true;
    tell("agent_start", event, ctx);
  });
  pi.on("agent_end", (event, ctx) => tell("agent_end", event, ctx));
  pi.on("turn_end", (event, ctx) => {
    if (!runs) tell("turn_end", event, ctx);
  });
  // The agent may end right behind this one: it is told before, and what came first before it.
  pi.on("session_shutdown", async (event, ctx) => {
    const input = text("session_shutdown", event, ctx);
    let timer;
    await Promise.race([last, new Promise((done) => (timer = setTimeout(done, 500)))]);
    clearTimeout(timer);
    try {
      spawnSync(program, ["hook", agent], { input, stdio: ["pipe", "ignore", "ignore"], timeout: 1000 });
    } catch {}
  });
}
