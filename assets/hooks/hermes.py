# Tells kittymux which conversation this hermes is in, and what it is at: each event is one short
# program. "kittymux hooks remove hermes" takes it out.
import json
import os
import subprocess
import threading

EVENTS = ("on_session_start", "on_session_reset", "pre_llm_call", "on_session_end", "on_session_finalize")
APPROVALS = ("pre_approval_request", "post_approval_response")


def tell(event, session, reason):
    try:
        told = {"type": event, "session_id": session or "", "reason": reason or "", "cwd": os.getcwd()}
        subprocess.run(
            [program, "hook", agent],
            input=json.dumps(told).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=2,
        )
    except Exception:
        pass


# What hermes does by itself beside the conversation: reviews, background tasks, agents inside.
def is_own(about):
    behind = threading.current_thread().name.startswith("bg-")
    return behind or about.get("platform") not in (None, "", "cli", "tui")


def register(ctx):
    def of_session(event):
        def hear(**about):
            if not is_own(about):
                tell(event, about.get("session_id"), about.get("reason"))

        return hear

    def of_approval(event):
        def hear(**about):
            # Others than the person decide as well.
            if about.get("surface") == "cli":
                tell(event, about.get("session_key"), "")

        return hear

    for event in EVENTS:
        ctx.register_hook(event, of_session(event))
    for event in APPROVALS:
        ctx.register_hook(event, of_approval(event))
