#!/usr/bin/python3
"""prof-viewer.py - open what prof-emit wrote in real viewers: prof-viewer.py TRACE.json SPEEDSCOPE.json EVENTS.csv DIR [APP]

Chromium, without a window, loads the trace into the Performance panel of its developer tools; what the panel has read
(events, time by name) must be what the table of events holds.  With APP, the unpacked npm package speedscope, the other
file is validated by its published schema and opened in its application.  Pictures of both go to DIR.  Prints a line for
each check; exit 1 if one fails."""
import base64, csv, functools, http.server, json, os, subprocess, sys, tempfile, threading, time, urllib.request
import websocket

trace, speedscope, events, out = map(os.path.abspath, sys.argv[1:5])
app = os.path.abspath(sys.argv[5]) if len(sys.argv) > 5 else None
failed = False


def check(what, good):
    global failed
    failed |= not good
    print(("ok - " if good else "not ok - ") + what, flush=True)


class Page:
    """one page of a Chromium of our own, spoken to by its debugging protocol"""

    def __init__(self, folder):
        self.browser = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             "--remote-allow-origins=*", "--user-data-dir=" + folder, "--window-size=1400,800", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        at = os.path.join(folder, "DevToolsActivePort")
        self.wait(lambda: os.path.exists(at) and open(at).read().count("\n"), 60)
        self.port = int(open(at).readline())
        pages = json.load(urllib.request.urlopen("http://127.0.0.1:%d/json" % self.port))
        page = next(p for p in pages if p["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=10)
        self.number = 0

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            try:
                answer = json.loads(self.socket.recv())
            except websocket.WebSocketTimeoutException:  # a page that is being left does not answer
                return {}
            if answer.get("id") == self.number:
                return answer.get("result", answer)

    def js(self, text):
        answer = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        return answer.get("result", {}).get("value")

    def go(self, url):
        self.call("Page.navigate", url=url)
        time.sleep(4)                                # what is asked of the page that is left goes unanswered
        self.wait(lambda: self.js("location.href == %s && document.readyState == 'complete'" % json.dumps(url)))

    def wait(self, good, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = good()
            if value:
                return value
            time.sleep(.3)
        sys.exit("prof-viewer.py: nothing happened in %d s" % seconds)

    def shoot(self, name):
        time.sleep(1)
        open(os.path.join(out, name), "wb").write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


PANEL = """(async () => { const T = await import('./panels/timeline/timeline.js');
    const trace = T.TimelinePanel.TimelinePanel.instance().getParsedTraceForLayoutTests(); if (!trace) return null;
    const time = {}; let events = 0, threads = 0;
    for (const [, process] of (trace.data || trace).Renderer.processes) for (const [, thread] of process.threads) {
        threads++;
        for (const e of thread.entries) { events++; time[e.name] = (time[e.name] || 0) + Math.round(e.dur * 1000); } }
    return JSON.stringify({events, threads, time}); })()"""


def performance_panel(page):
    page.go("http://127.0.0.1:%d/devtools/devtools_app.html?panel=timeline" % page.port)
    page.call("DOM.enable")
    find = lambda: [n["backendNodeId"] for n in page.call("DOM.getFlattenedDocument", depth=-1, pierce=True).get("nodes", [])
                    if n["nodeName"] == "INPUT" and "file" in n.get("attributes", [])]
    page.call("DOM.setFileInputFiles", files=[trace], backendNodeId=page.wait(find)[0])
    got = json.loads(page.wait(lambda: page.js(PANEL)))
    want = {}
    rows = list(csv.DictReader(open(events)))
    for r in rows:
        name = r["name"] or r["cat"]
        want[name] = want.get(name, 0) + int(r["end_ns"]) - int(r["start_ns"])
    check("Chromium's Performance panel: %d of %d events" % (got["events"], len(rows)), got["events"] == len(rows))
    check("time by name, %d names, in ns" % len(want), got["time"] == want)
    page.shoot("performance-panel.png")


def speedscope_app(page):
    import jsonschema
    with open(os.path.join(app, "dist/release/file-format-schema.json")) as f:
        schema = json.load(f)
    document = json.load(open(speedscope))
    errors = list(jsonschema.Draft7Validator(schema).iter_errors(document))
    check("speedscope's published schema", not errors)
    document["profiles"][0]["events"][0]["frame"] = "none"
    check("(which refuses a broken file)", bool(list(jsonschema.Draft7Validator(schema).iter_errors(document))))
    root = os.path.commonpath([app, speedscope])

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/" % server.server_port
    for path, n, what in ((speedscope, len(document["profiles"]), "evented"), (trace, None, "Chrome's")):
        link = os.path.join(root, os.path.basename(path))
        if not os.path.exists(link):
            os.symlink(path, link)
        page.go("about:blank")
        page.go(url + os.path.relpath(app, root) + "/dist/release/index.html#profileURL=" + url + os.path.basename(path))
        text = page.wait(lambda: (lambda t: t if "Left Heavy" in (t or "") else None)(page.js("document.body.innerText")))
        shown = int(text.split("(1/")[1].split(")")[0]) if "(1/" in text else 1
        check("the application opens the %s file: %d profiles" % (what, shown), shown == n if n else shown > 1)
        page.shoot("speedscope-%s.png" % ("evented" if n else "chrome"))
    server.shutdown()


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    page = Page(folder)
    try:
        performance_panel(page)
        if app:
            speedscope_app(page)
    finally:
        page.browser.terminate()
        page.browser.wait()
sys.exit(failed)
