#!/usr/bin/env python3
"""prof-mouse.py PAGE.html DOM [PICTURE.png] - a page of prof-page in Chromium without a window and without network, used by
a mouse: the wheel zooms in where it points and out again, dragging moves, a double click goes to what is there, a click
into the flame makes it the root.  What the page asks the network for is counted.  Prints a line for each check, and how
long a redraw takes; exit 1 if one fails.  DOM gets the document as it is in the end."""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time

page, dom, picture = sys.argv[1], sys.argv[2], (sys.argv + [None])[3]
failed = False


def check(what, good):
    global failed
    failed |= not good
    print(("ok - " if good else "not ok - ") + what, flush=True)


class Browser:
    """spoken to through descriptors 3 and 4"""

    def __init__(self, folder):
        ours, to = os.pipe()
        answers, theirs = os.pipe()

        def place():
            os.dup2(ours, 13)
            os.dup2(theirs, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)
            for fd in (3, 4):
                os.set_inheritable(fd, True)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + folder, "--window-size=1400,1000",
             "about:blank"], close_fds=False, preexec_fn=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours)
        os.close(theirs)
        self.to, self.answers, self.rest, self.number, self.session = to, answers, b"", 0, None
        self.asked = []
        target = next(t["targetId"] for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                part = os.read(self.answers, 1 << 20)
                if not part:
                    sys.exit("prof-mouse.py: the browser ended")
                self.rest += part
            one, _, self.rest = self.rest.partition(b"\0")
            answer = json.loads(one)
            if answer.get("method") == "Network.requestWillBeSent":
                self.asked.append(answer["params"]["request"]["url"])
            if answer.get("id") == self.number:
                return answer.get("result", answer)

    def js(self, text):
        answer = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        return answer.get("result", {}).get("value")

    def wait(self, text, seconds=40):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.js(text):
                return True
            time.sleep(0.05)
        return False

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", buttons=int(kind == "mousePressed"), clickCount=n)


data = json.loads(re.search(r'id="data">(.*?)</script>', open(page, encoding="utf-8").read(), re.S).group(1))
NEXT = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))"
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    b = Browser(folder)
    b.call("Network.enable")
    b.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
    b.call("Page.enable")
    b.call("Page.bringToFront")
    b.call("Page.navigate", url="file://" + os.path.abspath(page))
    check("drawn, without network", b.wait("document.body && document.body.dataset.ready !== undefined"))
    print("# ready after", b.js("document.body.dataset.ready"), "ms")
    b.js("document.getElementById('lanes').scrollIntoView()")
    box = json.loads(b.js("JSON.stringify(document.getElementById('lanes').getBoundingClientRect())"))
    shown = lambda: (b.js(NEXT), b.js("[from, to]"))[1]
    before = shown()
    x, y = box["x"] + 150 + (box["width"] - 150) * 0.25, box["y"] + 32
    under = before[0] + (before[1] - before[0]) * 0.25
    b.mouse("mouseMoved", x, y)
    times = []
    for _ in range(5):
        start = time.monotonic()
        b.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
        b.js(NEXT)
        times.append(1000 * (time.monotonic() - start))
    near = shown()
    check("the wheel zooms in", near[1] - near[0] < 0.8 * (before[1] - before[0]))
    check("where it points", abs(near[0] + (near[1] - near[0]) * 0.25 - under) <= 0.02 * (before[1] - before[0]))
    print("# zoom and redraw, both ways through the browser: %.0f ms, at most %.0f" % (sorted(times)[2], max(times)))
    b.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    b.mouse("mouseMoved", x - 80, y, button="left", buttons=1)
    b.mouse("mouseReleased", x - 80, y, button="left", buttons=0, clickCount=1)
    moved = shown()
    check("dragging to the left shows what is later", moved[0] > near[0] and
          abs((moved[1] - moved[0]) - (near[1] - near[0])) <= 1e-6 * (near[1] - near[0]) + 1)
    for _ in range(12):
        b.mouse("mouseWheel", x, y, deltaX=0, deltaY=240)
    check("and out again, to the whole run and no further", shown() == before)
    there = before
    for row in range(4):                                  # what lasts as long as the run is there already
        if there == before:
            b.click(x, y + 15 * row, 2)
            there = shown()
    check("a double click goes to what is there", there != before and there[0] <= under <= there[1])
    b.wait("document.getElementById('sum').textContent.includes(' of ')", 5)
    begin, end = there
    want = {}                                             # of each instant the deepest that is no operation, box by box
    for lane in data["lanes"]:
        at, boxes = 0, []
        for d, n, name, cat, depth in zip(*(lane[k] for k in ("start", "len", "name_id", "cat", "depth"))):
            at += d
            if data["cats"][cat] != "operation" and at < end and at + n > begin:
                boxes.append((depth, max(at, begin), min(at + n, end), name, cat))
        boxes = boxes[:1500]
        times = sorted({t for v in boxes for t in v[1:3]})
        for t, after in zip(times, times[1:]):
            over = [v for v in boxes if v[1] <= t and v[2] >= after]
            if over:
                key = (max(over)[3], max(over)[4])
                want[key] = want.get(key, 0) + after - t
    got = json.loads(b.js("JSON.stringify(inSight(from, to).top.map(r => [r.name, r.cat, r.self_ns]))"))
    want = sorted((data["names"][k[0]] or "(%s)" % data["cats"][k[1]], data["cats"][k[1]], round(v, 3)) for k, v in want.items())
    check("the tables follow what is in sight", sorted((n, c, round(v, 3)) for n, c, v in got if v) == want and
          b.js("document.getElementById('top').rows.length") > 1)
    if picture:
        open(picture, "wb").write(base64.b64decode(b.call("Page.captureScreenshot")["data"]))
    b.js("document.getElementById('all').click()")
    b.wait("!document.getElementById('sum').textContent.includes(' of ' + time(span))", 5)
    check("the button shows the whole run", shown() == before)
    b.js("document.getElementById('flame').scrollIntoView()")
    flame = json.loads(b.js("JSON.stringify(document.getElementById('flame').getBoundingClientRect())"))
    b.mouse("mouseMoved", flame["x"] + flame["width"] * 0.1, flame["y"] + flame["height"] - 8)
    b.js(NEXT)
    check("the pointer is told what it is over", b.js("document.getElementById('tip').textContent.length") > 0)
    asked = [u for u in b.asked if not re.match("file:|data:|about:", u)]
    check("nothing was asked of the network: " + (", ".join(asked) or "0 requests"), not asked)
    open(dom, "w", encoding="utf-8", errors="replace").write(b.js("document.documentElement.outerHTML"))
    b.session = None
    b.call("Browser.close")
    b.process.wait(10)
sys.exit(failed)
