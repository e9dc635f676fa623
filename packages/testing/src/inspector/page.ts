import { base64Text } from '@krmkit/meta/bytes'
import { digest } from '@krmkit/meta/platform'
import { pageScript } from './page-script.ts'
import { pageStyle } from './page-style.ts'
import type { InspectorReport } from './report.ts'

/**
 * Renders the page: one HTML file without references to others. Data is embedded as JSON in which no `<` occurs, the script shows it as
 * text only, and the policy of the page allows no other script and no connection.
 */
export function renderPage(report: InspectorReport): string {
  const policy = `default-src 'none'; style-src '${hashOf(pageStyle)}'; script-src '${hashOf(pageScript)}'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>krmkit inspector</title>
<style>${pageStyle}</style>
</head>
<body>
<header>
<h1>krmkit inspector</h1>
<label>Filter <input id="filter" type="search"></label>
<label><input id="controllers" type="checkbox" checked> controllers</label>
<label><input id="reads" type="checkbox" checked> reads</label>
<label><input id="runs" type="checkbox" checked> runs of controllers</label>
</header>
<main>
<section><h2>Timeline</h2><ol id="requests"></ol></section>
<section><h2>Objects</h2><div id="objects"></div></section>
<section><h2>Owners</h2><div id="owners"></div></section>
</main>
<script type="application/json" id="report">${embedded(report)}</script>
<script>${pageScript}</script>
</body>
</html>
`
}

/** JSON that cannot end a script element or begin a comment. */
function embedded(report: InspectorReport): string {
  return JSON.stringify(report).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

function hashOf(text: string): string {
  return `sha256-${base64Text(digest('sha256', [text]))}`
}
