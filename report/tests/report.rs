//! Opens reports in a real browser. Needs `chromium` and `chromedriver` (Debian: chromium, chromium-driver); without them the
//! tests say so and pass, except where `CI` is set.

#[path = "../../lab/tests/common/mod.rs"]
mod common;

use common::finished;
use experiment::Finished;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use lab::reproduce::{self, Artefact, Scale, paper};
use serde_json::{Value, json};
use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::Duration;

#[test]
fn plots_of_runs_compared() {
    let runs = [finished("rapid", 1, false), finished("reno", 1, true), finished("bic", 1, true)];
    in_browser("compare", "Who is first?", &runs, async |page| {
        assert_eq!(page.canvases().await, 5, "throughput, queue, window, rate, RTT");
        page.every_plot_shows_something().await;

        let before = page.ink(0, ORANGE).await;
        assert!(before > 500, "reno's curve has {before} pixels");
        page.click(".legend button:nth-child(2)").await;
        assert_eq!(page.ink(0, ORANGE).await, 0, "reno is hidden");
        assert!(page.ink(0, BLUE).await > 500, "rapid is not");
        page.click(".legend button:nth-child(2)").await;
        assert_eq!(page.ink(0, ORANGE).await, before, "reno is back");
    });
}

/// The figures of connections that come and go; those over time follow each other, the distribution has its own axis.
#[test]
fn traffic_and_its_completion_times() {
    let text = r#"
        duration = "5 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        compare.controllers = ["reno", "bic"]
        traffic = [{ kind = "flows", per-second = 30, size = { exponential = "20 kB" } }]
    "#;
    let machine = scenario::Machine::this(None);
    let plan = scenario::read("test", text, &[], &machine).unwrap();
    let runs = lab::runner::run(&plan, machine.jobs, &(), &|_| true).unwrap();
    in_browser("traffic", "Short flows", &runs, async |page| {
        assert_eq!(page.canvases().await, 6, "queue; throughput, connections, completion times and their means, sizes");
        page.every_plot_shows_something().await;
        let before = page.shown().await;
        let (distribution, by_size) = (before[3], before[4]);
        assert!(before[..3].iter().all(|&stretch| stretch == (0.0, 5.0)));
        assert!(
            distribution.0 > 0.05 && distribution.0 < 0.1,
            "the least is a round trip and a half: {distribution:?}"
        );

        assert!(by_size.0 < by_size.1 && by_size.1 > 20_000.0, "{by_size:?}");

        page.drag(3, 0.25, 0.5).await;
        let after = page.shown().await;
        assert!(after[..3] == before[..3] && after[3] != distribution, "{after:?}");
        page.drag(1, 0.25, 0.5).await;
        let later = page.shown().await;
        assert!(later[..3].iter().all(|stretch| *stretch == later[0] && *stretch != (0.0, 5.0)), "{later:?}");
        assert_eq!(later[3], after[3]);
        page.double_click(3, 0.5).await;
        assert_eq!(page.shown().await[3], distribution);
        page.point_at(3, 0.5).await;
        assert!(page.text(".values:not([hidden])").await.contains("bic"));
        assert!(page.text("main").await.contains("bic: flows"));
        page.point_at(4, 0.5).await;
        assert!(page.text(".values:not([hidden])").await.contains("processor sharing"));
    });
}

/// Where routers take part, what they allow is drawn below the queue.
#[test]
fn what_routers_allow() {
    let text = r#"
        duration = "2 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp", queue = "matching" }
        flow = [{ controller = "rcp-ac", count = 3 }]
    "#;
    let machine = scenario::Machine::this(None);
    let plan = scenario::read("test", text, &[], &machine).unwrap();
    let runs = lab::runner::run(&plan, machine.jobs, &(), &|_| true).unwrap();
    in_browser("routers", "Three flows and a router", &runs, async |page| {
        assert_eq!(page.canvases().await, 8, "throughput, queue, allowed rate and growth, window, rate, RTT, Jain");
        page.every_plot_shows_something().await;
        assert!(page.text("main").await.contains("router rcp-ac (gamma = 0.2"));
    });
}

#[test]
fn zoom_and_values() {
    let runs = [finished("reno", 3, true)];
    in_browser("flows", "Three flows", &runs, async |page| {
        assert_eq!(page.canvases().await, 5, "throughput, queue, window, RTT, Jain");
        page.every_plot_shows_something().await;
        assert!(page.shown().await.iter().all(|&stretch| stretch == (0.0, 20.0)));

        page.drag(0, 0.25, 0.5).await;
        let shown = page.shown().await;
        assert!(shown.iter().all(|stretch| *stretch == shown[0]), "all plots show the same: {shown:?}");
        let (from, to) = shown[0];
        assert!((from - 5.0).abs() < 0.2 && (to - 10.0).abs() < 0.2, "{from} to {to}");
        page.screenshot("zoomed").await;

        page.double_click(2, 0.5).await;
        assert!(page.shown().await.iter().all(|&stretch| stretch == (0.0, 20.0)));

        page.point_at(0, 0.5).await;
        let values = page.text(".values:not([hidden])").await;
        for part in ["Mbps", "flow 1", "flow 2", "flow 3", "total", " s"] {
            assert!(values.contains(part), "{part} is missing: {values}");
        }
        page.screenshot("values").await;
    });
}

#[test]
fn panels_and_bands() {
    let runs = [finished("rapid", 3, false), finished("reno", 3, true)];
    in_browser("panels", "Two runs of three flows", &runs, async |page| {
        assert_eq!(page.canvases().await, 2 + 6, "a panel per run; throughput, queue, window, rate, RTT, Jain");
        page.every_plot_shows_something().await;
    });
    in_browser("many", "Fifty flows", &[finished("reno", 50, true)], async |page| {
        assert_eq!(page.canvases().await, 6, "total, throughput, queue, window, RTT, Jain");
        page.every_plot_shows_something().await;
    });
}

#[test]
fn hostile_names_are_only_text() {
    let title = "</script><script>document.body.remove()</script>\u{2028}<!-- & \" '";
    let name = "<img src=x onerror=document.body.remove()>";
    let runs = [finished(name, 2, true), finished("</title>", 2, true)];
    in_browser("hostile", title, &runs, async |page| {
        assert_eq!(page.text("h1").await, title);
        assert_eq!(page.text(".figures tbody th").await, name);
        assert_eq!(page.run("return document.images.length + document.scripts.length", vec![]).await, json!(3));
        page.every_plot_shows_something().await;
    });
}

/// A page of the gallery: claims, figures over time, and maps with a square for each pair.
#[test]
fn the_gallery() {
    let text = r#"
        title = "Each beside each"
        about = "Two flows."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "pairs", file = "pairs.toml" }]
        claim = [
            { says = "much is lost", measure = "drops", least = 1e9, ours = true, because = "the path is slow" },
            { says = "little is lost", measure = "drops", most = 1e9 },
        ]
        figure = [
            { scenario = "pairs", axes = ["Throughput"] },
            { scenario = "pairs", map = ["flow[0].controller", "flow[1].controller"], flow = 1, measures = ["throughput", "mean-queue"] },
        ]
    "#;
    let pairs = r#"
        duration = "2 s"
        path = { rate = "2 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        flow = [{ controller = "reno" }, { controller = "reno" }]
        sweep = { "flow[0].controller" = ["reno", "bic", "rapid"], "flow[1].controller" = ["reno", "bic"] }
    "#;
    let artefact = Artefact::read("test/pairs", text).unwrap();
    let machine = scenario::Machine::this(None);
    let planned = reproduce::plan(&artefact, Scale::Quick, &machine, |_| Some(pairs.into())).unwrap();
    let reproduced = reproduce::make(&artefact, Scale::Quick, planned, &machine, &(), &|_| true).unwrap();
    let drawn = report::Drawn::new(&artefact, Scale::Quick, reproduced);
    for (name, svg) in report::paper::figures(&drawn) {
        assert!(svg.contains("(Mbps)") && svg.contains("bic"), "{name} lacks a label");
        let pdf = report::paper::pdf(&svg).unwrap();
        assert!(pdf.starts_with(b"%PDF"), "{name}");
        let has = |word: &[u8]| pdf.windows(word.len()).any(|bytes| bytes == word);
        assert!(has(b"LiberationSans") && has(b"/FontFile2"), "{name} does not carry its letters");
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("test.html");
    std::fs::write(&file, report::gallery::page(&paper::papers(&[drawn])[0], Scale::Quick)).unwrap();
    opened("gallery", &file, async |page| {
        assert_eq!(page.canvases().await, 6, "a panel per run");
        let count = page.run("return document.querySelectorAll('.map tbody td').length", vec![]).await;
        assert_eq!(count, json!(2 * 3 * 2), "two maps of six pairs");
        let claims = page.text(".claims").await;
        for part in ["PASS", "MISS", "the path is slow", "our band"] {
            assert!(claims.contains(part), "{part} is missing: {claims}");
        }
        page.run("document.querySelector('.map td').dispatchEvent(new Event('mouseenter'))", vec![]).await;
        assert!(page.text("figure .said").await.contains("reno, beside reno"));
    });
}

const BLUE: [u8; 3] = [0x00, 0x72, 0xb2];
const ORANGE: [u8; 3] = [0xd5, 0x5e, 0x00];

/// Opens the report of `runs`, does `what`, and checks that nothing was logged and nothing fetched. With `REPORT_SHOTS` set to
/// a folder, leaves pictures and a print there.
fn in_browser(name: &str, title: &str, runs: &[Finished], what: impl AsyncFnOnce(&Page)) {
    let dir = tempfile::tempdir().unwrap();
    report::write(dir.path(), title, 1, runs).unwrap();
    opened(name, &dir.path().join("report.html"), what);
}

/// As [`in_browser`], with the page in `file`.
fn opened(name: &str, file: &Path, what: impl AsyncFnOnce(&Page)) {
    let dir = tempfile::tempdir().unwrap(); // outlives the browser, whose profile lies in it
    let Some(mut driver) = Driver::start() else { return };
    let url = format!("file://{}", file.display());
    wait(async {
        let Some(client) = driver.browser(dir.path().join("profile").to_str().unwrap()).await else { return };
        let page = Page { client, name: name.to_string() };
        page.client.goto("about:blank").await.unwrap();
        page.log("performance").await; // what the browser did for itself
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
    // Not `eprintln`, which the test harness hides.
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: reports are not opened in a browser ({why}); install chromium and chromium-driver"
        );
    });
}

/// A chromedriver of our own.
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
    /// Asks chromedriver to end its browser, too, which outlives it if it is just killed: a test that fails gets here as well.
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
struct Page {
    client: Client,
    name: String,
}

impl Page {
    async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute(script, arguments).await.unwrap()
    }

    /// Until all has been drawn.
    async fn settle(&self) {
        let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))";
        self.client.execute_async(script, vec![]).await.unwrap();
    }

    async fn canvases(&self) -> usize {
        self.client.find_all(Locator::Css("figure canvas")).await.unwrap().len()
    }

    /// How many pixels of a plot are of about this colour.
    async fn ink(&self, plot: usize, colour: [u8; 3]) -> u64 {
        let script = "const [plot, colour] = arguments;
            const canvas = document.querySelectorAll('figure canvas')[plot];
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 200 && colour.every((c, k) => Math.abs(data[i + k] - c) < 12)) count++;
            return count";
        self.run(script, vec![json!(plot), json!(colour)]).await.as_u64().unwrap()
    }

    /// Every plot has the pixels of a curve: more than axes, labels and grid, which are grey.
    async fn every_plot_shows_something(&self) {
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

    /// Which stretch of time each plot shows.
    async fn shown(&self) -> Vec<(f64, f64)> {
        let script = "return [...document.querySelectorAll('figure')].map((figure) =>
            [figure.plot.scales.x.min, figure.plot.scales.x.max])";
        serde_json::from_value(self.run(script, vec![]).await).unwrap()
    }

    async fn text(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0]).textContent";
        self.run(script, vec![json!(selector)]).await.as_str().unwrap().to_string()
    }

    async fn click(&self, selector: &str) {
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

    async fn point_at(&self, plot: usize, share: f64) {
        self.act(vec![self.to(plot, share).await]).await;
    }

    async fn drag(&self, plot: usize, from: f64, to: f64) {
        let (from, to) = (self.to(plot, from).await, self.to(plot, to).await);
        let button = MOUSE_BUTTON_LEFT;
        self.act(vec![from, PointerAction::Down { button }, to, PointerAction::Up { button }]).await;
    }

    async fn double_click(&self, plot: usize, share: f64) {
        let press =
            [PointerAction::Down { button: MOUSE_BUTTON_LEFT }, PointerAction::Up { button: MOUSE_BUTTON_LEFT }];
        let mut actions = vec![self.to(plot, share).await];
        actions.extend(press.clone().into_iter().chain(press));
        self.act(actions).await;
    }

    /// What the browser has logged of this kind since the last time.
    async fn log(&self, kind: &'static str) -> Vec<Value> {
        let entries = self.client.issue_cmd(Log(kind)).await.unwrap();
        entries.as_array().unwrap().clone()
    }

    /// The addresses asked for since the last time.
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

    async fn screenshot(&self, what: &str) {
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

/// chromedriver's own command.
#[derive(Debug)]
struct Log(&'static str);

impl WebDriverCompatibleCommand for Log {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({ "type": self.0 }).to_string()))
    }
}
