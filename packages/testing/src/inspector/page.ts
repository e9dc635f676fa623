import { base64Text } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'
import { pageScript } from './page-script.ts'
import { pageStyle } from './page-style.ts'
import type { InspectorReport } from './report.ts'

/** The Content-Security-Policy of the page. */
export function pagePolicy(): string {
  return `default-src 'none'; style-src '${hashOf(pageStyle)}'; script-src '${hashOf(pageScript)}'`
}

/**
 * Renders the page in parts: one HTML file without external references. Data is embedded as JSON without `<`, the script
 * inserts it only as text, and the policy of the page allows no other script and no connection.
 */
export function* pageParts(report: InspectorReport): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy()}">
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
${report.omitted === 0 ? '' : `<p>${report.omitted} older requests are not shown: the page would be too large.</p>\n`}<main>
<section><h2>Timeline</h2><ol id="requests"></ol></section>
<section><h2>Objects</h2><div id="objects"></div></section>
<section><h2>Owners</h2><div id="owners"></div></section>
</main>
<script type="application/json" id="report">`
  yield* reportParts(report)
  yield `</script>
<script>${pageScript}</script>
</body>
</html>
`
}

function* reportParts({ omitted, requests, runs, objects }: InspectorReport): Generator<string> {
  yield `{"omitted":${omitted},"requests":`
  yield* listParts(requests)
  yield ',"runs":'
  yield* listParts(runs)
  yield ',"objects":['
  for (const [at, { title, owners, versions }] of objects.entries()) {
    yield `${at === 0 ? '' : ','}{"title":${embedded(title)},"owners":${embedded(owners)},"versions":`
    yield* listParts(versions)
    yield '}'
  }
  yield ']}'
}

function* listParts(items: readonly object[]): Generator<string> {
  yield '['
  for (const [at, item] of items.entries()) yield `${at === 0 ? '' : ','}${embedded(item)}`
  yield ']'
}

/** Encodes JSON that cannot end a script element or start a comment. */
function embedded(value: object | string): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

function hashOf(text: string): string {
  return `sha256-${base64Text(digest('sha256', [text]))}`
}
