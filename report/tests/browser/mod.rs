//! A real browser that opens pages. Needs `chromium` and `chromedriver` (Debian: chromium, chromium-driver); without
//! them the tests say so and pass, except where `CI` is set.

use experiment::Finished;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::Duration;

/// Opens the report of `runs`, calls `what`, and checks that the page logs no error and fetches nothing. If the
/// variable `REPORT_SHOTS` names a folder, leaves screenshots and a print there.
pub fn in_browser(name: &str, title: &str, runs: &[Finished], what: impl AsyncFnOnce(&Page)) {
    let dir = tempfile::tempdir().unwrap();
    thalweg_report::write(dir.path(), title, 1, runs).unwrap();
    opened(name, &dir.path().join("report.html"), what);
}

/// As [`in_browser`], for the page in `file`.
pub fn opened(name: &str, file: &Path, what: impl AsyncFnOnce(&Page)) {
    let dir = tempfile::tempdir().unwrap(); // outlives the browser, whose profile lies in it
    let Some(mut driver) = Driver::start() else { return };
    let url = format!("file://{}", file.display());
    wait(async {
        let Some(client) = driver.browser(dir.path().join("profile").to_str().unwrap()).await else { return };
        let page = Page { client, name: name.to_string() };
        page.client.goto("about:blank").await.unwrap();
        page.log("performance").await; // discards what the browser fetched for itself
        page.client.goto(&url).await.unwrap();
        page.settle().await;
        page.screenshot("whole").await;
        page.print().await;
        what(&page).await;
        let errors: Vec<_> = page.log("browser").await.into_iter().filter(|entry| entry["level"] == "SEVERE").collect();
        assert!(errors.is_empty(), "the console says {errors:?}");
        assert_eq!(page.fetched().await, [url.as_str()], "nothing but the page itself is fetched");
        page.client.clone().close().await.unwrap();
    });
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Says that there is no browser to test with; fails where there must be one.
fn skip(why: &str) {
    let why = why.lines().next().unwrap_or_default();
    assert!(std::env::var_os("CI").is_none(), "{why}; install chromium and chromium-driver");
    // `eprintln` would be hidden by the test harness.
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: reports are not opened in a browser ({why}); install chromium and chromium-driver"
        );
    });
}

/// A chromedriver that this test has started.
struct Driver {
    process: Child,
    port: String,
}

impl Driver {
    fn start() -> Option<Driver> {
        let started = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = started.map_err(|error| skip(&format!("chromedriver: {error}"))).ok()?;
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("successfully on port ")?.1.trim_end_matches('.').to_string()));
        Some(Driver { process, port: port.expect("chromedriver tells its port") })
    }

    async fn browser(&mut self, profile: &str) -> Option<Client> {
        let args = json!([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1000,1600",
            format!("--user-data-dir={profile}"),
        ]);
        let capabilities = json!({
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else { unreachable!() };
        let capabilities: Capabilities = capabilities.into_iter().collect();
        let url = format!("http://localhost:{}", self.port);
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        builder.connect(&url).await.map_err(|error| skip(&format!("chromium: {error}"))).ok()
    }
}

impl Drop for Driver {
    /// Asks chromedriver to shut down, which ends its browser, too: a browser outlives a chromedriver that is killed.
    fn drop(&mut self) {
        if let Ok(mut stream) = TcpStream::connect(format!("localhost:{}", self.port)) {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            let _ = stream.read_to_end(&mut Vec::new());
        }
        for _ in 0..100 {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A report in the browser.
pub struct Page {
    client: Client,
    name: String,
}

impl Page {
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute(script, arguments).await.unwrap()
    }

    /// Waits until everything has been drawn.
    async fn settle(&self) {
        let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))";
        self.client.execute_async(script, vec![]).await.unwrap();
    }

    /// Makes the page `width` pixels wide, which may be less than the least width of a window.
    pub async fn set_width(&self, width: usize) {
        let params = json!({ "width": width, "height": 1600, "deviceScaleFactor": 2, "mobile": false });
        let body = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": params });
        self.client.issue_cmd(Own("goog/cdp/execute", body)).await.unwrap();
        self.settle().await;
    }

    /// The words in elements of `selector` that do not stand on one line.
    pub async fn broken_words(&self, selector: &str) -> Vec<String> {
        let script = "const broken = [];
            for (const node of document.querySelectorAll(arguments[0])) {
                const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
                while (texts.nextNode()) {
                    for (const { 0: word, index } of texts.currentNode.data.matchAll(/\\S+/g)) {
                        const range = document.createRange();
                        range.setStart(texts.currentNode, index);
                        range.setEnd(texts.currentNode, index + word.length);
                        if (new Set([...range.getClientRects()].map((line) => line.top)).size > 1) broken.push(word);
                    }
                }
            }
            return broken";
        serde_json::from_value(self.run(script, vec![json!(selector)]).await).unwrap()
    }

    /// By how many pixels the page is wider than its window, and has to be scrolled sideways.
    pub async fn excess_width(&self) -> i64 {
        let script = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        self.run(script, vec![]).await.as_i64().unwrap()
    }

    pub async fn canvases(&self) -> usize {
        self.client.find_all(Locator::Css("figure canvas")).await.unwrap().len()
    }

    /// How many pixels of a plot are of about this colour.
    pub async fn ink(&self, plot: usize, colour: [u8; 3]) -> u64 {
        let script = "const [plot, colour] = arguments;
            const canvas = document.querySelectorAll('figure canvas')[plot];
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 200 && colour.every((c, k) => Math.abs(data[i + k] - c) < 12)) count++;
            return count";
        self.run(script, vec![json!(plot), json!(colour)]).await.as_u64().unwrap()
    }

    /// Checks that every plot has pixels in the colour of a curve; axes, labels and grid are grey.
    pub async fn every_plot_shows_something(&self) {
        let script = "return [...document.querySelectorAll('figure')].map((figure) => {
            const canvas = figure.querySelector('canvas'), u = figure.plot;
            const { left, top, width, height } = u.bbox;
            const { data } = canvas.getContext('2d').getImageData(left, top, width, height);
            const colours = u.series.slice(1).map((s) => /^#(..)(..)(..)$/.exec(s.swatch)).filter((c) => c)
                .map((c) => c.slice(1).map((x) => parseInt(x, 16)));
            let count = 0;
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 200 && colours.some((c) => c.every((x, k) => Math.abs(data[i + k] - x) < 12))) count++;
            return count;
        })";
        for (plot, count) in self.run(script, vec![]).await.as_array().unwrap().iter().enumerate() {
            assert!(count.as_u64().unwrap() > 300, "plot {plot} of {} shows {count} pixels of curves", self.name);
        }
    }

    /// From where to where the horizontal axis of each plot goes.
    pub async fn shown(&self) -> Vec<(f64, f64)> {
        let script = "return [...document.querySelectorAll('figure')].map((figure) =>
            [figure.plot.scales.x.min, figure.plot.scales.x.max])";
        serde_json::from_value(self.run(script, vec![]).await).unwrap()
    }

    pub async fn text(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0]).textContent";
        self.run(script, vec![json!(selector)]).await.as_str().unwrap().to_string()
    }

    pub async fn click(&self, selector: &str) {
        self.client.find(Locator::Css(selector)).await.unwrap().click().await.unwrap();
        self.settle().await;
    }

    /// Moves the mouse to this share of the plot's width.
    async fn to(&self, plot: usize, share: f64) -> PointerAction {
        let script = "const over = document.querySelectorAll('figure .u-over')[arguments[0]];
            over.scrollIntoView({ block: 'center' });
            const { left, top, width, height } = over.getBoundingClientRect();
            return [left + arguments[1] * width, top + height / 2]";
        let (x, y) = serde_json::from_value(self.run(script, vec![json!(plot), json!(share)]).await).unwrap();
        PointerAction::MoveTo { duration: Some(Duration::from_millis(60)), x, y }
    }

    async fn act(&self, actions: Vec<PointerAction>) {
        let mouse = actions.into_iter().fold(MouseActions::new("mouse".into()), |mouse, action| mouse.then(action));
        self.client.perform_actions(mouse).await.unwrap();
        self.settle().await;
    }

    pub async fn point_at(&self, plot: usize, share: f64) {
        self.act(vec![self.to(plot, share).await]).await;
    }

    pub async fn drag(&self, plot: usize, from: f64, to: f64) {
        let (from, to) = (self.to(plot, from).await, self.to(plot, to).await);
        let button = MOUSE_BUTTON_LEFT;
        self.act(vec![from, PointerAction::Down { button }, to, PointerAction::Up { button }]).await;
    }

    pub async fn double_click(&self, plot: usize, share: f64) {
        let press =
            [PointerAction::Down { button: MOUSE_BUTTON_LEFT }, PointerAction::Up { button: MOUSE_BUTTON_LEFT }];
        let mut actions = vec![self.to(plot, share).await];
        actions.extend(press.clone().into_iter().chain(press));
        self.act(actions).await;
    }

    /// The entries of a log of the browser since the last call.
    async fn log(&self, kind: &'static str) -> Vec<Value> {
        let entries = self.client.issue_cmd(Own("se/log", json!({ "type": kind }))).await.unwrap();
        entries.as_array().unwrap().clone()
    }

    /// The addresses fetched since the last call.
    async fn fetched(&self) -> Vec<String> {
        let messages =
            self.log("performance").await.into_iter().map(|entry| {
                serde_json::from_str::<Value>(entry["message"].as_str().unwrap()).unwrap()["message"].take()
            });
        messages
            .filter(|message| message["method"] == "Network.requestWillBeSent")
            .map(|message| message["params"]["request"]["url"].as_str().unwrap().to_string())
            .collect()
    }

    pub async fn screenshot(&self, what: &str) {
        if let Some(dir) = std::env::var_os("REPORT_SHOTS") {
            let file = std::path::Path::new(&dir).join(format!("{}-{what}.png", self.name));
            std::fs::write(file, self.client.screenshot().await.unwrap()).unwrap();
        }
    }

    async fn print(&self) {
        if let Some(dir) = std::env::var_os("REPORT_SHOTS") {
            let file = std::path::Path::new(&dir).join(format!("{}.pdf", self.name));
            std::fs::write(file, self.client.print(Default::default()).await.unwrap()).unwrap();
        }
    }
}

/// A command that is chromedriver's own: its path and its body.
#[derive(Debug)]
struct Own(&'static str, Value);

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.0))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.1.to_string()))
    }
}
