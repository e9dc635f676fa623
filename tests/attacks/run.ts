import { parseArgs } from 'node:util'
import { RandomChoices } from '@krmkit/base/random-choices'
import { families } from './families/index.ts'
import { type FamilyFigures, FamilyReport, issueBounds, table } from './harness/report.ts'
import { bundleCommand } from './harness/server-process.ts'

/**
 * `npm run attacks -- [--family NAME]... [--only TEXT]... [--seed N] [--short] [--json]`: prints the table of all families; exits with 1 for
 * findings.
 */

const { values } = parseArgs({
  options: {
    family: { type: 'string', multiple: true, default: [] },
    /** Of families of single requests, sends only those whose name contains one of the texts. */
    only: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: '20261122' },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    /** Number of printed findings per family. */
    show: { type: 'string', default: '20' },
  },
})
const unknown = values.family.filter((name) => !families.some((family) => family.name === name))
if (unknown.length > 0) {
  console.error(`unknown family ${unknown.join(', ')}; available: ${families.map((family) => family.name).join(', ')}`)
  process.exit(2)
}
bundleCommand()
const all: FamilyFigures[] = []
for (const family of families) {
  if (values.family.length > 0 && !values.family.includes(family.name)) continue
  const from = performance.now()
  const report = new FamilyReport(family.name, { ...issueBounds, ...family.bounds })
  console.error(`${family.name}: ${family.purpose} (seed ${values.seed})`)
  const size = values.short ? 'short' : 'full'
  const progress = setInterval(() => printProgress(report.figures()), 60_000)
  await family.run({ random: new RandomChoices(Number(values.seed)), report, size, only: values.only })
  clearInterval(progress)
  const figures = report.figures()
  all.push(figures)
  console.error(`  ${Math.round((performance.now() - from) / 1000)} s, ${figures.wrong} of ${figures.tried} wrong`)
  if (!values.json) printFindings(figures)
}
if (values.json) console.log(JSON.stringify({ seed: Number(values.seed), families: all }, null, 2))
else console.log(`\n${table(all)}`)
process.exitCode = all.some(({ wrong }) => wrong > 0) ? 1 : 0

function printProgress({ tried, wrong, findings }: FamilyFigures): void {
  const last = findings.at(-1)
  const latest = last === undefined ? '' : `, the last: ${last.attempt.slice(0, 200)}: ${last.reason}`
  console.error(`  ${tried} tried, ${wrong} wrong so far${latest}`)
}

function printFindings({ findings, longestStallMs, slowest }: FamilyFigures): void {
  const shown = Number(values.show)
  for (const { attempt, reason } of findings.slice(0, shown)) console.error(`  ${attempt.slice(0, 200)}\n    ${reason}`)
  if (findings.length > shown) console.error(`  and ${findings.length - shown} more; --show N and --json print all`)
  if (longestStallMs > 0) console.error(`  longest stall: ${longestStallMs} ms by ${slowest.slice(0, 200)}`)
}
