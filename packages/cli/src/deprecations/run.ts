import { defaultRelease } from '@krmkit/meta'
import { deprecationRules, findDeprecations } from '@krmkit/versioning'
import { documentsOf, type ManifestFile, objectsOf } from 'krmkit/validate'
import { findManifests } from '../offline/manifest-files.ts'
import { count, countBySeverity, countsText, textLine } from '../offline/reported-finding.ts'
import { sarifReport } from '../offline/sarif-report.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type InlineObject, inlineObjects, isKustomization } from './kustomization.ts'
import type { DeprecationsFlags, LocatedDeprecation } from './options.ts'

const rules: Readonly<Record<string, string>> = {
  ...deprecationRules,
  'unreadable-file': 'A file or folder cannot be read.',
  syntax: 'The text is neither YAML nor JSON.',
}

interface Scanned {
  readonly findings: readonly LocatedDeprecation[]
  readonly objects: number
}

/** Runs `krmkit deprecations`. @returns the exit code. @throws CliError, ApiError, ClientError */
export async function runDeprecations(sources: readonly string[], flags: DeprecationsFlags, terminal: Terminal): Promise<number> {
  const found = findManifests(
    sources.filter((source) => source !== 'server'),
    terminal,
    { also: isKustomization },
  )
  const scanned: Scanned[] = [scanFiles(found.files, flags.release)]
  if (sources.includes('server')) scanned.push(await (await import('./server.ts')).scanServer(flags))
  const unreadable = found.unreadable.map(
    ({ path, message }): LocatedDeprecation => ({ file: path, rule: 'unreadable-file', severity: 'error', path: '', message }),
  )
  const findings = [...unreadable, ...scanned.flatMap((each) => each.findings)]
  const objects = scanned.reduce((sum, each) => sum + each.objects, 0)
  print(findings, { files: found.files.length, objects }, flags, terminal)
  if (findings.some(({ rule }) => rule === 'unreadable-file' || rule === 'syntax')) return exitCodes.failure
  const failing = { error: ['error'], warning: ['error', 'warning'], note: ['error', 'warning', 'note'] }[flags.failOn]
  return findings.some(({ severity }) => failing.includes(severity)) ? exitCodes.findings : exitCodes.success
}

function scanFiles(files: readonly ManifestFile[], release: string | undefined): Scanned {
  const findings: LocatedDeprecation[] = []
  const documents: { readonly file: string; readonly number: number; readonly document: InlineObject }[] = []
  let objects = 0
  for (const { path, text } of files) {
    for (const [index, document] of documentsOf({ path, text }).entries()) {
      if (document.kind === 'document') {
        const own = isKustomization(path) ? inlineObjects({ path, text }, document) : [document]
        for (const each of own) {
          objects += objectsOf(each).length
          documents.push({ file: path, number: index + 1, document: each })
        }
        continue
      }
      const advice = text.includes('{{') ? '; a template must be rendered first, for example with helm template' : ''
      const message = `${document.message}${advice}`
      findings.push({
        file: path,
        document: index + 1,
        rule: 'syntax',
        severity: 'error',
        path: '',
        message,
        range: document.range,
      })
    }
  }
  const values = documents.map(({ document }) => document.value)
  for (const { index, ...finding } of findDeprecations(values, release === undefined ? {} : { release })) {
    const { file, number, document } = documents[index] as (typeof documents)[number]
    const isValue = /(?:apiVersion|\.key|\.topologyKey)$/.test(finding.path)
    findings.push({ file, document: number, ...finding, range: document.range(finding.path, isValue ? 'value' : 'name') })
  }
  return { findings, objects }
}

function print(
  findings: readonly LocatedDeprecation[],
  totals: { readonly files: number; readonly objects: number },
  { output, quiet, color, release }: DeprecationsFlags,
  { out, paint: paintOf, version }: Terminal,
): void {
  const counts = countBySeverity(findings)
  if (output === 'sarif') out(`${JSON.stringify(sarifReport(findings, { version, rules }), null, 2)}\n`)
  else if (output === 'json') {
    const summary = { ...totals, ...counts }
    const flat = findings.map(({ range, ...finding }) => ({ ...finding, ...range }))
    out(`${JSON.stringify({ formatVersion: 1, release: release ?? defaultRelease, summary, findings: flat }, null, 2)}\n`)
  } else {
    const paint = paintOf('out', color)
    for (const finding of findings) out(`${textLine(finding, paint)}\n`)
    const none = `nothing that Kubernetes ${release ?? defaultRelease} has removed or deprecates`
    if (!quiet) out(`${count(totals.objects, 'object')} in ${count(totals.files, 'file')}: ${countsText(counts, paint, none)}\n`)
  }
}
