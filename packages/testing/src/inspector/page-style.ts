/** The style of the inspector page. */
export const pageStyle = `
:root { color-scheme: light dark; font: 14px/1.45 system-ui, sans-serif; --line: #8884; --mark: #facc1544;
  --back: #fff; --text: #1b1f24; --accent: #1d4ed8; --failed: #b91c1c; --muted: #57606a }
@media (prefers-color-scheme: dark) { :root { --back: #16181d; --text: #e6e9ee; --accent: #8ab4ff; --failed: #ff8a80; --muted: #a9b1ba } }
body { margin: 0; background: var(--back); color: var(--text) }
header { position: sticky; top: 0; display: flex; gap: 1.5em; align-items: center; padding: .5em 1em; background: var(--back); border-bottom: 1px solid var(--line) }
h1 { font-size: 1.1em; margin: 0 } h2 { font-size: 1em }
main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1.5em; padding: 0 1em }
main section:last-child { grid-column: 1 / -1 }
ol { list-style: none; padding: 0; margin: 0 }
summary { cursor: pointer; padding: .15em .3em; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
summary:hover { background: var(--mark) }
pre, code { font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3em 0 .3em 1em }
.code { display: inline-block; min-width: 2.5em; font-weight: 600 } .failed { color: var(--failed) }
.time, .user { color: var(--muted); margin-right: .6em }
.write { border-left: 3px solid var(--accent) } .watch { border-left: 3px solid #16a34a } .read { border-left: 3px solid var(--line) } .run { border-left: 3px dotted var(--line) }
table { border-collapse: collapse; margin: .3em 0 .3em 1em; font: 12px/1.5 ui-monospace, monospace }
td { padding: 0 .8em 0 0; white-space: pre-wrap; overflow-wrap: anywhere; vertical-align: top } td.owner { color: var(--accent) }
tr.changed { background: var(--mark) }
#owners ul { padding-left: 1.2em }
`
