//! How the page looks, in light and dark, on wide and narrow screens. The colours are those of the diagram.

pub(super) const STYLE: &str = "
:root{--good:#1a7f37;--bad:#b2182b;--warn:#9a6700;--line:#1f5fa3;--other:#9ca5b2}
@media(prefers-color-scheme:dark){:root{--good:#4ac26b;--bad:#ff8f7a;--warn:#d4a72c;--line:#7cc0ff;--other:#697383}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);line-height:1.5;-webkit-text-size-adjust:100%}
main{max-width:1000px;margin:0 auto;padding:24px 20px 64px}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 8px}
h2{font-size:1.2rem;margin:44px 0 10px}
h3{font-size:1rem;margin:20px 0 6px}
p{margin:0 0 10px;max-width:75ch}
.muted{color:var(--muted)}
.scroll-x{overflow-x:auto}
table{border-collapse:collapse;max-width:100%}
th,td{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid var(--border);vertical-align:top}
th{font-weight:600}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.words{min-width:14em;overflow-wrap:anywhere}
td.name{overflow-wrap:break-word;min-width:9.5em}
tr.chosen td{font-weight:600}
details{margin:12px 0}summary{cursor:pointer;color:var(--muted)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:0}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}
.badge{display:inline-block;border-radius:999px;padding:0 9px;border:1px solid currentColor;font-size:.85rem;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:12px;margin:16px 0 0}
.card{border:1px solid var(--border);background:var(--card);border-radius:10px;padding:12px 14px}
.card.own{border-color:var(--good);border-width:2px}
.card b{display:block;font-size:1.5rem;line-height:1.2}
.card span{color:var(--muted);font-size:.9rem}
.bar{display:block;width:100%;max-width:520px;height:auto}
.chart{display:block;width:100%;max-width:760px;height:auto}
.chart text,.bar text{fill:var(--muted);font-size:12px}
.grid{stroke:var(--border);fill:none}
.curve{fill:none;stroke:var(--other);stroke-width:1.5}
.curve.chosen{stroke:var(--line);stroke-width:2.5}
.curve.train{stroke-dasharray:5 4}
.unknown{fill:var(--other);opacity:.25}
td.drawn{min-width:200px;width:40%}
.fill{fill:var(--line)}.whisker{stroke:var(--text);stroke-width:2;fill:none}.tick{stroke:var(--bad);stroke-width:2}
.confusion td,.confusion th{text-align:center;padding:4px 7px;font-variant-numeric:tabular-nums;font-size:.9rem;border:1px solid var(--border)}
.confusion th.side{text-align:right;overflow-wrap:anywhere}
.shown{display:flex;gap:14px;flex-wrap:wrap;border-bottom:1px solid var(--border);padding:12px 0}
.shown figure{margin:0;width:128px;overflow:visible}
.shown img{width:112px;height:112px;object-fit:contain;image-rendering:pixelated;border:1px solid var(--border);border-radius:6px;background:#000}
.shown figcaption{font-size:.85rem;overflow-wrap:anywhere;line-height:1.35}
.numbers{display:block;font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.8rem;overflow-wrap:anywhere}
.shown.rows{display:block}
pre{background:var(--card);border:1px solid var(--border);border-radius:8px;padding:12px;overflow-x:auto;font-size:.85rem}
@media(max-width:560px){main{padding:16px 12px 48px}h1{font-size:1.35rem}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 8px}
table.stack,table.stack tbody,table.stack tr,table.stack td{display:block;width:auto}table.stack thead{display:none}
table.stack tr{border-bottom:1px solid var(--border);padding:8px 0}table.stack td,table.stack td.n{border:0;padding:1px 0;text-align:left;white-space:normal}
table.stack td.name{font-weight:600}table.stack td[data-label]::before{content:attr(data-label) ' ';color:var(--muted)}table.stack td:empty{display:none}
.shown{gap:10px}.shown figure{width:calc(33.3% - 7px)}.shown img{width:100%;height:auto;aspect-ratio:1}th,td{padding-right:10px}}
@media print{.scroll-x{overflow:visible}}
";
