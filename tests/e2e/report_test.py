#!/usr/bin/env python3
"""A run as people look at it: the page after train and evaluate, on half a run, over two runs; in a real browser at three
widths, light and dark; and TensorBoard's own reader on the events.

FOXHUNT names the program; run from the project's folder. The browser tests need chromium, the reader's a Python with
tensorboard (both: scripts/setup --browser); without them they skip by name. REPORT_PICTURES=DIR keeps the pictures.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

FOXHUNT = os.environ["FOXHUNT"]
CONFIG = "configs/mamba2_es.toml"
CACHED = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "foxhunt"
TENSORBOARD = os.environ.get("TENSORBOARD_PYTHON", str(CACHED / "tensorboard/bin/python"))
WIDTHS = (360, 768, 1280)


def call(*args, **options):
    return subprocess.run([FOXHUNT, *map(str, args)], capture_output=True, text=True, timeout=600, **options)


class Made:
    """Two small runs, one of them evaluated; made once for all tests."""
    folder = None

    @classmethod
    def once(cls):
        if cls.folder:
            return
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.full, cls.bare = cls.folder / "full", cls.folder / "bare"
        cls.train = call("train", "--config", CONFIG, "--test", "--out", cls.full, "--set", "train.log_every=2")
        assert cls.train.returncode == 0, cls.train.stderr
        cls.evaluate = call("evaluate", cls.full, "--split", "test")
        assert cls.evaluate.returncode == 0, cls.evaluate.stderr
        other = call("train", "--config", CONFIG, "--test", "--out", cls.bare, "--seed", 5)
        assert other.returncode == 0, other.stderr
        cls.both = cls.folder / "both.html"
        assert call("report", cls.full, cls.bare, "--out", cls.both).returncode == 0


def tearDownModule():
    if Made.folder:
        shutil.rmtree(Made.folder)


class Verb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        Made.once()

    def test_train_and_evaluate_end_with_the_page(self):
        for done in (Made.train, Made.evaluate):
            self.assertEqual(done.stdout.splitlines()[-1], f"report  {Made.full}/report.html")
        html = (Made.full / "report.html").read_text()
        for section in ("Verdict", "Model beside baselines", "Calibration and confusion", "When it works", "Training",
                        "Gradients, state, weights", "Memory", "Data", "Configuration", "Lineage", "Definitions"):
            self.assertIn(f"<h2>{section}</h2>", html)
        rows = json.loads((Made.full / "evaluation-test.json").read_text())["rows"]
        self.assertIn(f"n = {rows:,} rows", html)
        self.assertIn("Not evaluated yet", (Made.bare / "report.html").read_text())

    def test_coverage_counts_what_the_run_logged(self):
        coverage = json.loads((Made.full / "coverage.json").read_text())
        log = (Made.full / "log.txt").read_text()
        for part, of in coverage["parts"].items():
            days = [d for d in coverage["days"] if d["part"] == part]
            self.assertEqual(of["rows"], sum(d["rows"] for d in days), part)
            self.assertEqual(of["labels"], sum(d["labels"] for d in days), part)
            self.assertEqual(of["days"], len(days), part)
            if part != "purged":
                self.assertRegex(log, rf"{part}\s+{of['rows']} rows,\s+{of['labels']} labels")

    def test_step_lines_come_in_order_every_so_many_steps(self):
        lines = [json.loads(line) for line in (Made.full / "metrics.jsonl").read_text().splitlines()]
        steps = [line["step"] for line in lines if "epoch" not in line]
        last = max(line["step"] for line in lines)
        self.assertEqual(steps, list(range(2, last + 1, 2)))
        self.assertEqual(sorted(next(l for l in lines if "epoch" not in l)), ["grad_norm", "loss", "lr", "step"])
        bare = (Made.bare / "metrics.jsonl").read_text().splitlines()
        self.assertTrue(all("epoch" in json.loads(line) for line in bare))

    def test_half_a_run_gets_a_page_too(self):
        half = Made.folder / "half"
        shutil.copytree(Made.full, half, symlinks=True)
        text = (half / "metrics.jsonl").read_text()
        (half / "metrics.jsonl").write_text(text[:-40])
        (half / "evaluation-test.json").write_text("{")
        for name in ("env.json", "data.lock", "coverage.json", "report.html"):
            (half / name).unlink()
        done = call("report", half, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["report"], str(half / "report.html"))
        self.assertIsNone(answer["runs"][0]["split"])
        self.assertIn("Could not be read: evaluation-test.json is not JSON", (half / "report.html").read_text())

    def test_what_is_no_run_is_refused_by_name(self):
        done = call("report", Made.folder)
        self.assertEqual(done.returncode, 3)
        self.assertIn("is no run folder", done.stderr)
        self.assertEqual(call("report", Made.folder / "absent").returncode, 2)
        nowhere = call("report", Made.full, "--out", Made.folder / "no/such/folder.html")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("no/such/folder.html", nowhere.stderr)

    def test_two_runs_show_what_differs(self):
        html = Made.both.read_text()
        self.assertIn("<code>train.seed</code>", html)
        self.assertNotIn("<code>train.patience</code>", html)
        self.assertIn("have no part in common", html)


class InABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if browser.program() is None:
            raise unittest.SkipTest("no chromium here; scripts/setup --browser installs it")
        Made.once()
        cls.browser = browser.Browser()
        cls.pages = {"full": Made.full / "report.html", "bare": Made.bare / "report.html", "both": Made.both}

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    # Boxes that scroll by themselves, and drawings (looked at apart), may hold what is wider than they are.
    OVERFLOW = """(() => {
        document.querySelectorAll('details').forEach(d => { d.open = true; });
        const bad = [], page = document.documentElement.clientWidth;
        const say = (e, why) => bad.push(`${e.tagName}.${e.getAttribute('class')} ${why}: ${e.textContent.slice(0, 60)}`);
        for (const e of document.body.querySelectorAll('*')) {
            const box = e.closest('.scroll, pre, svg');
            if (box && box !== e) continue;
            const r = e.getBoundingClientRect(), style = getComputedStyle(e);
            if (r.width === 0 || style.visibility === 'hidden') continue;
            if (e.closest('#verdict > h2, #theme[hidden]')) continue;
            if (r.right > page + 0.5 || r.left < -0.5) say(e, `from ${r.left} to ${r.right} of ${page}`);
            const scrolls = ['auto', 'scroll', 'hidden'].includes(style.overflowX);
            if (!box && !scrolls && style.display !== 'inline' && e.scrollWidth > e.clientWidth + 1)
                say(e, `holds ${e.scrollWidth} in ${e.clientWidth}`);
        }
        for (const t of document.querySelectorAll('.plot svg text')) {
            const r = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
            if (r.width && (r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 1 || r.bottom > s.bottom + 1))
                say(t, `text leaves its drawing (${r.left} to ${r.right} of ${s.left} to ${s.right})`);
        }
        return bad.slice(0, 8);
    })()"""

    def test_nothing_overflows_no_request_no_complaint(self):
        for name, page in self.pages.items():
            for width in WIDTHS:
                for dark in (False, True):
                    with self.subTest(page=name, width=width, dark=dark):
                        self.browser.open(page, width, dark=dark, touch=width < 700)
                        sizes = self.browser.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
                        self.assertEqual(sizes[1], width)
                        self.assertLessEqual(*sizes)
                        self.assertEqual(self.browser.run(self.OVERFLOW), [])
                        self.assertEqual(self.browser.requests(), [f"file://{page}"])
                        self.assertEqual(self.browser.complaints(), [])
                        self.keep(f"{name}-{width}{'-dark' if dark else ''}")

    def keep(self, name):
        folder = os.environ.get("REPORT_PICTURES")
        if folder:
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            self.browser.picture(pathlib.Path(folder) / f"{name}.png")

    def test_light_and_dark_follow_the_system_and_the_button(self):
        paper = "getComputedStyle(document.body).backgroundColor"
        seen = {}
        for dark in (False, True):
            self.browser.open(self.pages["full"], 1280, dark=dark)
            seen[dark] = self.browser.run(paper)
            self.browser.run("document.getElementById('theme').click()")
            self.assertNotEqual(self.browser.run(paper), seen[dark])
            self.browser.run("document.getElementById('theme').click()")
            self.assertEqual(self.browser.run(paper), seen[dark])
            self.browser.run("localStorage.clear()")
        self.assertNotEqual(seen[False], seen[True])

    def test_words_stand_out_from_their_paper(self):
        # WCAG's contrast of text and background: 4.5 for body text.
        contrast = """(() => {
            const part = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
            const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number); return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
            const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
            const paperOf = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255,255,255)'; };
            return [...document.querySelectorAll('p, li, dt, dd, th, .k, .v, .r, .n, .sub, summary, nav a, .hint')]
                .map(e => [ratio(getComputedStyle(e).color, paperOf(e)), e.className + ' ' + e.textContent.slice(0, 40)])
                .filter(([r]) => r < 4.5).slice(0, 5);
        })()"""
        for dark in (False, True):
            self.browser.open(self.pages["full"], 1280, dark=dark)
            self.assertEqual(self.browser.run(contrast), [])

    def test_the_pointer_shows_the_values_of_the_place(self):
        lines = [json.loads(line) for line in (Made.full / "metrics.jsonl").read_text().splitlines()]
        last = [line for line in lines if "epoch" in line][-1]
        self.browser.open(self.pages["full"], 1280)
        tip = "document.querySelector('#training .roomy .tip')"
        self.assertEqual(self.browser.run(f"getComputedStyle({tip}).visibility"), "hidden")
        box = self.browser.run("(() => { const e = document.querySelector('#training .roomy .plot'); e.scrollIntoView({block: 'center', behavior: 'instant'});"
                               " const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()")
        self.browser.point_at(box[2] - 14, (box[1] + box[3]) / 2)
        self.assertEqual(self.browser.run(f"getComputedStyle({tip}).visibility"), "visible")
        said = self.browser.run(f"{tip}.textContent")
        self.assertIn(f"epoch {last['epoch']}", said)
        self.assertIn(f"training {last['train_loss']:.4f}", said)
        self.assertIn(f"validation {last['valid_loss']:.4f}", said)
        self.keep("pointer")
        self.browser.point_at(1, 1)
        self.assertEqual(self.browser.run(f"getComputedStyle({tip}).visibility"), "hidden")

    def test_every_chart_answers_the_arrow_keys_inside_the_page(self):
        for width in (360, 1280):
            self.browser.open(self.pages["full"], width)
            bad = self.browser.run("""(() => {
                const bad = [], page = document.documentElement.clientWidth;
                for (const plot of document.querySelectorAll('[data-hover]')) {
                    if (plot.offsetParent === null) continue;
                    const n = JSON.parse(plot.dataset.hover).x.length;
                    for (let i = 0; i < n; ++i) {
                        plot.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
                        const tip = plot.querySelector('.tip'), r = tip.getBoundingClientRect();
                        if (getComputedStyle(tip).visibility !== 'visible' || !tip.textContent) bad.push('nothing at ' + i);
                        if (r.left < 0 || r.right > page) bad.push(`${tip.textContent} from ${r.left} to ${r.right}`);
                    }
                }
                return bad.slice(0, 5);
            })()""")
            self.assertEqual(bad, [])
            self.assertEqual(self.browser.complaints(), [])


class InTensorBoard(unittest.TestCase):
    READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
print(json.dumps({tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
"""

    def test_its_own_reader_reads_what_the_log_says(self):
        if subprocess.run([TENSORBOARD, "-c", "import tensorboard"], capture_output=True).returncode if shutil.which(TENSORBOARD) else True:
            self.skipTest("no tensorboard here; scripts/setup --browser installs it, TENSORBOARD_PYTHON names another")
        Made.once()
        done = subprocess.run([TENSORBOARD, "-c", self.READ, Made.full / "tb"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        got = json.loads(done.stdout)
        lines = [json.loads(line) for line in (Made.full / "metrics.jsonl").read_text().splitlines()]
        epochs, steps = [l for l in lines if "epoch" in l], [l for l in lines if "epoch" not in l]
        wanted = {"loss/train": (epochs, "train_loss"), "loss/valid": (epochs, "valid_loss"),
                  "gradient/norm_max": (epochs, "grad_norm_max"), "memory/resident_bytes": (epochs, "resident_bytes"),
                  "step/loss": (steps, "loss"), "step/grad_norm": (steps, "grad_norm"), "step/lr": (steps, "lr")}
        for tag, (of, key) in wanted.items():
            self.assertEqual([s for s, _ in got[tag]], [line["step"] for line in of], tag)
            for (_, value), line in zip(got[tag], of):
                self.assertAlmostEqual(value, line[key], delta=1e-6 * abs(line[key]))  # stored as float32


if __name__ == "__main__":
    unittest.main()
