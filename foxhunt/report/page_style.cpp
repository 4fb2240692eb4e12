#include <fmt/format.h>

#include <array>

#include "foxhunt/evaluation/svg/canvas.h"
#include "foxhunt/report/page_frame.h"

namespace foxhunt::report {
namespace {

namespace svg = evaluation::svg;

/// A colour of the SVG room, and what it becomes on dark paper.
struct Colour {
  const char* name;
  std::string light;
  const char* dark;
};

std::array<Colour, 12> colours() {
  return {{{"ink", svg::kInk, "#e4eaf0"},
           {"soft", svg::kSoftInk, "#9aa8b6"},
           {"grid", svg::kGridColour, "#252e38"},
           {"axis", svg::kAxisColour, "#4a5765"},
           {"paper", svg::kPaper, "#151b22"},
           {"negative", svg::kNegativeColour, "#e58673"},
           {"s0", svg::series_colour(0), "#5fa8e0"},
           {"s1", svg::series_colour(1), "#ee9a5c"},
           {"s2", svg::series_colour(2), "#5cc094"},
           {"s3", svg::series_colour(3), "#b395dd"},
           {"s4", svg::series_colour(4), "#e07f95"},
           {"s5", svg::series_colour(5), "#9aa8b6"}}};
}

constexpr const char* kDarkRest =
    "--page:#0e1318;--line:#2a343f;--tint:#1b232c;--hint:#2b2a1d;--hint-ink:#e2d9a8;"
    "--good:#5cc094;--bad:#e58673;--accent:#7dbcef;color-scheme:dark;";
constexpr const char* kLightRest =
    "--page:#f6f7f9;--line:#e1e6eb;--tint:#f1f4f7;--hint:#fbf6e2;--hint-ink:#5c5320;"
    "--good:#1f7a4d;--bad:#b03f2b;--accent:#1a5f9c;color-scheme:light;";

std::string variables(bool dark) {
  std::string css;
  for (const Colour& c : colours()) css += fmt::format("--{}:{};", c.name, dark ? c.dark : c.light);
  return css + (dark ? kDarkRest : kLightRest);
}

/// Charts carry their colours as attributes, so that they also stand alone; here the sheet takes
/// over.
std::string recolour() {
  std::string css;
  for (const Colour& c : colours()) {
    if (c.name == std::string("s5")) continue;  // is soft ink
    css += fmt::format(
        ".plot [fill=\"{0}\"]{{fill:var(--{1})}}.plot [stroke=\"{0}\"]{{stroke:var(--{1})}}",
        c.light, c.name);
  }
  for (std::size_t i = 0; i < svg::kSeriesColours; ++i)
    css += fmt::format("i.s{0}{{background:var(--s{0})}}.dot.s{0}{{fill:var(--s{0})}}", i);
  return css;
}

constexpr const char* kSheet = R"CSS(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums lining-nums;overflow-wrap:anywhere}
main,.top{max-width:1220px;margin:0 auto;padding:0 clamp(14px,3vw,32px)}
.top{padding-top:clamp(20px,4vw,44px);position:relative}
.eyebrow{margin:0;color:var(--soft);font-size:13px;letter-spacing:.02em}
h1{margin:.1em 0 .15em;font-size:clamp(26px,4.4vw,38px);line-height:1.15;letter-spacing:-.02em;font-weight:650}
.meta{margin:0;color:var(--soft);font-size:14px}
.meta span+span::before{content:"·";margin:0 .5em;color:var(--axis)}
#theme{position:absolute;right:clamp(14px,3vw,32px);top:clamp(18px,4vw,42px);font:inherit;font-size:13px;color:var(--soft);background:var(--paper);border:1px solid var(--line);border-radius:999px;padding:4px 12px;cursor:pointer}
#theme:hover{color:var(--ink)}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:18px 0 0;padding:10px 0;border-top:1px solid var(--line);border-bottom:1px solid var(--line);font-size:14px}
nav a{color:var(--soft);text-decoration:none}
nav a:hover{color:var(--accent)}
section{margin:34px 0 0}
h2{margin:0 0 2px;font-size:20px;letter-spacing:-.01em;font-weight:650}
h3{margin:22px 0 8px;font-size:15px;font-weight:650}
h3 .n{font-weight:400}
#verdict>h2{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.lead{margin:0 0 14px;color:var(--soft);max-width:96ch;text-wrap:pretty}
a{color:var(--accent)}
a.def{color:inherit;text-decoration:underline dotted var(--axis);text-underline-offset:3px}
a.def:hover{color:var(--accent);text-decoration-color:currentColor}
code,pre{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{background:var(--tint);border-radius:4px;padding:1px 5px;overflow-wrap:anywhere}
pre{margin:0;padding:12px 14px;background:var(--tint);border-radius:8px;overflow-x:auto;overflow-wrap:normal}
.card,.fig,.verdict,details,.box{background:var(--paper);border:1px solid var(--line);border-radius:10px}
.verdict{padding:20px 22px;border-left:5px solid var(--axis);margin-top:22px}
.verdict.shown{border-left-color:var(--good)}.verdict.worse{border-left-color:var(--bad)}
.verdict .word{margin:0;font-size:clamp(21px,3vw,27px);font-weight:650;letter-spacing:-.015em;line-height:1.2}
.verdict.shown .word{color:var(--good)}.verdict.worse .word{color:var(--bad)}
.verdict .say{margin:10px 0 0;max-width:96ch;text-wrap:pretty}
.verdict ul{margin:8px 0 0;padding-left:18px;color:var(--soft);font-size:14px;max-width:112ch;text-wrap:pretty}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,215px),1fr));gap:14px;margin-top:14px}
.card{padding:14px 16px;min-width:0}
.card .k{font-size:13px;color:var(--soft)}
.card .v{font-size:25px;font-weight:620;letter-spacing:-.015em;line-height:1.3}
.card .v .na{font-size:15px}
.card .r,.card .n{display:block;font-size:12.5px;color:var(--soft)}
.n{color:var(--soft);font-size:12.5px}
.na{color:var(--soft);font-weight:400}.na small{font-size:.86em}
.hint{margin:12px 0 0;padding:10px 14px;background:var(--hint);color:var(--hint-ink);border-radius:8px;font-size:14px}
.hint code{background:none;padding:0;font-weight:600}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:14px}
.fig{margin:0;padding:14px 14px 8px;min-width:0}
.fig.wide{grid-column:span 2}
.tight{display:none}
figcaption{display:flex;flex-wrap:wrap;gap:2px 12px;align-items:baseline;margin-bottom:8px;line-height:1.35}
figcaption strong{font-size:14.5px;font-weight:620;flex:1 1 auto}
figcaption .sub{order:3;flex:1 1 100%;color:var(--soft);font-size:12.5px}
.legend{display:inline-flex;flex-wrap:wrap;gap:2px 12px;font-size:12.5px;color:var(--soft)}
.legend i,.tip i{display:inline-block;width:11px;height:4px;border-radius:2px;margin-right:5px;vertical-align:middle}
.plot{position:relative;touch-action:pan-y;outline-offset:3px;border-radius:4px}
.plot svg{display:block;width:100%;height:auto;max-width:820px;font-family:inherit}
.fig:not(.wide) .plot svg{max-width:460px;margin:0 auto}
.plot svg>rect:first-of-type{fill:none}
.cross{stroke:var(--soft);stroke-width:1;opacity:0;pointer-events:none}
.dot{stroke:var(--paper);stroke-width:2;opacity:0;pointer-events:none}
.on .cross{opacity:.55}.on .dot{opacity:1}
.tip{position:absolute;z-index:2;visibility:hidden;max-width:min(240px,100%);padding:7px 10px;background:var(--ink);color:var(--paper);border-radius:7px;font-size:12.5px;line-height:1.45;pointer-events:none;white-space:pre-line}
.tip b{display:block;font-weight:620}.tip span{display:block}.tip em{font-style:normal}
.on .tip{visibility:visible}
.scroll{overflow-x:auto;background:var(--paper);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th,td{padding:7px 14px;text-align:right;white-space:nowrap;border-top:1px solid var(--line);font-weight:400}
thead th{border-top:0;color:var(--soft);font-size:12.5px;vertical-align:bottom}
tbody th,thead th:first-child{text-align:left}
td.best,b.best{font-weight:650}
table.words td{text-align:left;white-space:normal;min-width:8em}
table.words thead th{text-align:left}
.confusion td{min-width:92px;text-align:center;background:color-mix(in srgb,var(--s0) calc(var(--a,0)*70%),transparent)}
.confusion td small{display:block;color:var(--soft)}
td[style] small{color:inherit;opacity:.8}
.facts{margin:0;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:0 28px;background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:8px 16px}
.facts.one{grid-template-columns:1fr}.facts.one+.facts.one{margin-top:10px}
.facts div{display:flex;gap:14px;justify-content:space-between;padding:6px 0;border-bottom:1px solid var(--line);min-width:0}
.facts dt{color:var(--soft);flex:0 0 auto;font-size:13.5px}
.facts dd{margin:0;text-align:right;min-width:0;font-size:13.5px}
details{margin-top:12px;overflow:hidden}
summary{padding:10px 16px;cursor:pointer;font-weight:600;font-size:14px}
details>.scroll,details>pre,details>.facts{border:0;border-top:1px solid var(--line);border-radius:0}
details>.in{padding:0 16px 14px}
.in .facts{border:0;padding:0}.in h3{margin:16px 0 2px}
.calendar{display:grid;gap:7px;padding:14px 16px}
.month{display:grid;grid-template-columns:64px 1fr;gap:10px;align-items:center;font-size:12.5px;color:var(--soft)}
.days{display:flex;flex-wrap:wrap;gap:4px}
.day{position:relative;width:30px;height:26px;border-radius:5px;font-size:11.5px;line-height:26px;text-align:center;color:var(--ink);background:var(--tint);overflow:hidden}
.day s{position:absolute;inset:0 auto 0 0;text-decoration:none;opacity:.38;z-index:0}
.day span{position:relative}
.day.gap{box-shadow:inset 0 -3px 0 var(--negative)}
.p0{background:var(--s0)}.p1{background:var(--s1)}.p2{background:var(--s2)}.p3{background:var(--axis)}
.legend i.p0,.legend i.p1,.legend i.p2,.legend i.p3,.legend i.gapmark{width:12px;height:12px;border-radius:3px;opacity:.55}
.legend i.gapmark{background:none;box-shadow:inset 0 -3px 0 var(--negative);opacity:1}
.glossary{margin:0;columns:2 420px;column-gap:34px}
.glossary div{break-inside:avoid;padding:7px 0;border-bottom:1px solid var(--line);scroll-margin-top:12px}
.glossary div:target{background:var(--hint);box-shadow:0 0 0 6px var(--hint);border-radius:2px}
.glossary dt{font-weight:620;font-size:13.5px}
.glossary dd{margin:0;color:var(--soft);font-size:13.5px}
.glossary code{display:inline-block;color:var(--ink)}
footer{margin:44px 0 30px;color:var(--soft);font-size:12.5px;border-top:1px solid var(--line);padding-top:12px}
@media (max-width:780px){.cards{grid-template-columns:repeat(auto-fit,minmax(min(100%,146px),1fr));gap:10px}.card{padding:11px 12px}.card .v{font-size:22px}.fig.wide{grid-column:auto}.roomy{display:none}.tight{display:block}.facts div{flex-wrap:wrap;gap:0 14px}.glossary{columns:1}th,td{padding:7px 11px}
.verdict{padding:16px 16px}.month{grid-template-columns:1fr;gap:3px}}
@media print{body{background:#fff;font-size:11pt}#theme,nav{display:none}.card,.fig,.verdict,details,.scroll{break-inside:avoid}section{margin-top:22px}.grid{grid-template-columns:repeat(2,1fr)}}
)CSS";

}  // namespace

std::string page_style() {
  // Paper is light whatever the screen was.
  return fmt::format(
             ":root{{{0}}}\n@media "
             "(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{1}}}}}\n"
             ":root[data-theme=dark]{{{1}}}\n@media print{{:root,:root:not([data-theme=light]),"
             ":root[data-theme=dark]{{{0}}}}}\n",
             variables(false), variables(true)) +
         recolour() + kSheet;
}

}  // namespace foxhunt::report
