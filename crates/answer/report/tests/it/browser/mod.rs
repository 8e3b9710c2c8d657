//! A real headless browser: opens a page from disk and reports the result.
#![allow(unreachable_pub, clippy::unwrap_used, reason = "a module of a test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Result of opening a page.
pub struct Seen {
    /// The page after its scripts ran.
    pub dom: String,
    /// Complaints of the console and of the security policy.
    pub complaints: Vec<String>,
    /// Requested addresses other than the page itself.
    pub requests: Vec<String>,
}

pub struct Browser {
    program: PathBuf,
}

/// A browser of the Chromium family, if one is installed.
pub fn find() -> Option<Browser> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file())
        .map(|program| Browser { program })
}

impl Browser {
    fn command(&self, profile: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "300"]).arg(&self.program);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
            "--disable-extensions",
            "--disable-sync",
            "--no-first-run",
            "--no-proxy-server",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display())).stdin(Stdio::null());
        command
    }

    /// Opens a page, unpacks its data as a reader would, and returns the result.
    pub fn open(&self, name: &str, page: &str) -> Seen {
        let folder = std::env::temp_dir().join(format!("prony-page-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let (file, log) = (folder.join("page.html"), folder.join("net.json"));
        std::fs::write(&file, page).unwrap();
        let mut command = self.command(&folder.join("profile"));
        command.arg(format!("--log-net-log={}", log.display()));
        command.args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=8000", "--dump-dom"]);
        let output = command.arg(format!("file://{}#check", file.display())).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let complaints = said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
        let requests = requests(&std::fs::read_to_string(&log).unwrap_or_default());
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        std::fs::remove_dir_all(&folder).unwrap();
        Seen { dom, complaints, requests }
    }
}

impl Browser {
    /// What of a page, unfolded, does not fit in a window of this width: the page itself, texts in drawings.
    pub fn layout(&self, name: &str, page: &str, width: u32) -> Vec<String> {
        self.ask(name, page, (width, ""), include_str!("layout.js"))
    }

    /// The lines that a script says of a page in a window of this width at an anchor: it ends with `say(LINES)`.
    pub fn ask(&self, name: &str, page: &str, (width, anchor): (u32, &str), script: &str) -> Vec<String> {
        let folder = std::env::temp_dir().join(format!("prony-ask-{}-{name}-{width}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        // The page's own policy allows no script but its own.
        let (before, policy) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
        let (_, after) = policy.split_once('>').unwrap();
        let say = include_str!("say.js");
        std::fs::write(folder.join("page.html"), format!("{before}{after}<script>{say}{{{script}}}</script>")).unwrap();
        // No window is narrower than 500 pixels, but a frame is.
        let frame = format!(
            "<!DOCTYPE html><body style='margin:0'><iframe src='page.html#{anchor}' style='border:0;width:{width}px;height:2000px'>\
             </iframe></body>"
        );
        let file = folder.join("frame.html");
        std::fs::write(&file, frame).unwrap();
        let mut command = self.command(&folder.join("profile"));
        command.args(["--allow-file-access-from-files", "--virtual-time-budget=8000", "--dump-dom"]);
        command.arg(format!("--window-size={},1000", width.max(500)));
        let output = command.arg(format!("file://{}", file.display())).output().unwrap();
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        std::fs::remove_dir_all(&folder).unwrap();
        let answer = dom.split("<pre id=\"said\">").nth(1).and_then(|rest| rest.split("\nEND").next());
        let answer = answer.unwrap_or_else(|| panic!("{name}: the page did not answer: {dom}"));
        answer.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}

impl Browser {
    /// How many sheets a page takes when it is printed.
    pub fn sheets(&self, name: &str, page: &str) -> usize {
        let folder = std::env::temp_dir().join(format!("prony-print-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let (file, printed) = (folder.join("page.html"), folder.join("page.pdf"));
        std::fs::write(&file, page).unwrap();
        let mut command = self.command(&folder.join("profile"));
        command.args(["--virtual-time-budget=8000", "--no-pdf-header-footer"]);
        command.arg(format!("--print-to-pdf={}", printed.display())).arg(format!("file://{}", file.display()));
        let output = command.output().unwrap();
        let pdf = std::fs::read(&printed).unwrap_or_else(|_| panic!("{name} was not printed: {output:?}"));
        std::fs::remove_dir_all(&folder).unwrap();
        String::from_utf8_lossy(&pdf).matches("/Type /Page\n").count()
    }
}

/// Addresses in a net log, without those of the browser's own services.
fn requests(log: &str) -> Vec<String> {
    let own = ["googleapis.com", "google.com", "gstatic.com", "gvt1.com"];
    log.split("\"url\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|url| url.starts_with("http") || url.starts_with("ws"))
        .filter(|url| !own.iter().any(|own| url.contains(own)))
        .map(str::to_owned)
        .collect()
}
