/**
 * `npm run api` writes a report of the public API of every entry point to `docs/reference/generated/api`; `npm run api -- --check` fails when a
 * committed report differs. Handles of single kinds (`kinds/<group>/<version>`) are generated and have no report.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel, type ExtractorMessage } from '@microsoft/api-extractor'
import { buildPackages } from './lib/child.ts'
import { publishedPackages, readManifest, root } from './lib/workspace.ts'

const output = 'docs/reference/generated/api'
const reports = join(root, output)

interface EntryPoint {
  /** The folder of the package. */
  readonly folder: string
  /** The file of its declarations. */
  readonly types: string
  /** Name of the report without an extension. */
  readonly report: string
}

export function main(args: readonly string[]): void {
  const check = args.includes('--check')
  const changed = writeApiReports({ check })
  for (const file of changed) console.log(`  ${output}/${file}`)
  if (check && changed.length > 0) {
    console.error('the public API changed: run `npm run api` and review the difference')
    process.exitCode = 1
  }
}

/** @returns the reports that differ from the committed ones. With `check`, the committed ones stay as they are. */
function writeApiReports({ check }: { readonly check: boolean }): string[] {
  buildPackages()
  mkdirSync(reports, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'krmkit-api-'))
  const changed = new Set<string>()
  const written = new Set<string>()
  for (const name of publishedPackages()) {
    const configs = entryPoints(join(root, 'packages', name)).map((entry) => ({ entry, config: configOf(entry, work) }))
    const [first] = configs
    if (first === undefined) continue
    const compilerState = CompilerState.create(first.config, { additionalEntryPoints: configs.map(({ entry }) => entry.types) })
    for (const { entry, config } of configs) {
      const file = `${entry.report}.api.md`
      written.add(file)
      const { apiReportChanged } = Extractor.invoke(config, { compilerState, localBuild: !check, messageCallback: silence })
      if (apiReportChanged) changed.add(file)
    }
  }
  for (const file of readdirSync(reports)) {
    if (!file.endsWith('.api.md') || written.has(file)) continue
    changed.add(file)
    if (!check) rmSync(join(reports, file))
  }
  rmSync(work, { recursive: true, force: true })
  console.log(`${written.size} entry points, ${changed.size} reports ${check ? 'out of date' : 'changed'}`)
  return [...changed].sort()
}

const handle = /^\.\/[a-z]+\/v\d/

/** The umbrella package re-exports what the other packages report. */
function entryPoints(folder: string): EntryPoint[] {
  const { name, exports = {} } = readManifest(folder)
  if (name === 'krmkit') return []
  return Object.entries(exports).flatMap(([path, target]) => {
    const types = typeof target === 'string' ? undefined : target.types
    if (path === './package.json' || typeof types !== 'string' || handle.test(path)) return []
    const report = `${name.replace('@krmkit/', '')}${path.slice(1).replaceAll('/', '-')}`
    return [{ folder, types: join(folder, types), report }]
  })
}

function configOf({ folder, types, report }: EntryPoint, work: string): ExtractorConfig {
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: types,
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2023',
            lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'],
            module: 'nodenext',
            moduleResolution: 'nodenext',
            strict: true,
            skipLibCheck: true,
            types: ['node'],
          },
          files: [types],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${report}.api.md`,
        reportFolder: reports,
        reportTempFolder: work,
        includeForgottenExports: false,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
      newlineKind: 'lf',
    },
  })
}

/** The extractor bundles an older compiler and says so; a changed report is reported by the caller. */
function silence(message: ExtractorMessage): void {
  message.handled = true
}
