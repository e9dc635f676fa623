#!/usr/bin/env node
// `npm run api` writes a report of the public API of every entry point to `docs/reference/generated/api`; `npm run api -- --check` fails when a committed
// report differs. Handles of single kinds (`kinds/<group>/<version>`) are generated and have no report.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
import { root, setup } from './setup.mjs'

const reports = join(root, 'docs/reference/generated/api')

/** @returns the reports that differ from the committed ones. With `check`, the committed ones stay as they are. */
export function writeApiReports({ check = false } = {}) {
  setup()
  buildDeclarations()
  mkdirSync(reports, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'krmkit-api-'))
  const changed = new Set()
  const written = new Set()
  for (const folder of folders()) {
    const entries = entryPoints(folder)
    const configs = entries.map((entry) => configOf(entry, work))
    if (configs.length === 0) continue
    const compilerState = CompilerState.create(configs[0], { additionalEntryPoints: entries.map(({ types }) => types) })
    for (const [index, config] of configs.entries()) {
      const file = `${entries[index].report}.api.md`
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

function buildDeclarations() {
  const { status } = spawnSync('npx', ['tsc', '-b', ...folders().map((folder) => join(folder, 'tsconfig.json'))], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
}

function folders() {
  const packages = join(root, 'packages')
  return readdirSync(packages)
    .sort()
    .map((name) => join(packages, name))
    .filter((folder) => existsSync(join(folder, 'tsconfig.json')))
}

const handle = /^\.\/[a-z]+\/v\d/

/** The umbrella package re-exports what the other packages report. */
function entryPoints(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (manifest.name === 'krmkit') return []
  return Object.entries(manifest.exports)
    .filter(([path, target]) => path !== './package.json' && typeof target === 'object' && target.types && !handle.test(path))
    .map(([path, { types }]) => ({
      folder,
      types: join(folder, types),
      report: `${manifest.name.replace('@krmkit/', '')}${path.slice(1).replaceAll('/', '-')}`,
    }))
}

function configOf({ folder, types, report }, work) {
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
function silence(message) {
  message.handled = true
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const check = process.argv.includes('--check')
  const changed = writeApiReports({ check })
  for (const file of changed) console.log(`  docs/reference/generated/api/${file}`)
  if (check && changed.length > 0) {
    console.error('the public API changed: run `npm run api` and review the difference')
    process.exitCode = 1
  }
}
