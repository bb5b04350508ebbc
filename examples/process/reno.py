"""Reno as a process: slow start, one packet more per round trip, half of the window on a loss.

thalweg evaluate mine --process 'mine=python3 examples/process/reno.py' --blocks loss
"""

import json
import sys


class Reno:
    def __init__(self, packet):
        self.packet = packet
        self.window = 10.0 * packet
        self.threshold = float("inf")

    def on_ack(self, event):
        if event["recovery"] or event["app_limited"]:
            return
        if self.window < self.threshold:
            self.window += event["acked"]
        else:
            self.window += self.packet * event["acked"] / self.window

    def on_loss(self, timeout):
        self.threshold = max(self.window / 2, 2 * self.packet)
        self.window = self.packet if timeout else self.threshold


flows = {}
for line in sys.stdin:
    event = json.loads(line)
    match event["event"]:
        case "start":
            flows[event["flow"]] = Reno(event["packet"])
        case "ack":
            flows[event["flow"]].on_ack(event)
        case "loss" | "timeout" as loss:
            flows[event["flow"]].on_loss(loss == "timeout")
        case "end":
            del flows[event["flow"]]
            continue  # it has no answer
    print(json.dumps({"window": flows[event["flow"]].window}), flush=True)
