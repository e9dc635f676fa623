/** `npm run types`: checks the types of all sources, and that no generator is called without taking what it yields. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { root } from './lib/workspace.ts'
import { unusedGenerators } from './types/unused-generators.ts'

const configs = ['tsconfig.json', 'playground/tsconfig.json']

const host: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => process.cwd(),
  getNewLine: () => '\n',
}

export async function main(): Promise<void> {
  const compilers = configs.map((config) => compile(config))
  let faults = 0
  for (const config of configs) {
    const unused = unusedGenerators(programOf(join(root, config)), join(root, '/'))
    for (const place of unused) console.error(`${relative(process.cwd(), place)}: nothing takes what this generator yields`)
    faults += unused.length
  }
  for (const isFine of await Promise.all(compilers)) if (!isFine) faults++
  process.exitCode = faults === 0 ? 0 : 1
}

/** Checks types with the native compiler, which has no interface for programs yet. */
async function compile(config: string): Promise<boolean> {
  const child = spawn('npx', ['tsc', '--noEmit', '--project', config], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'close')
  return code === 0
}

function programOf(config: string): ts.Program {
  const fail = (diagnostic: ts.Diagnostic) => {
    throw new Error(ts.formatDiagnostic(diagnostic, host))
  }
  const parsed = ts.getParsedCommandLineOfConfigFile(config, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail })
  if (parsed === undefined) throw new Error(`${config} cannot be read`)
  const { options, fileNames, errors, projectReferences } = parsed
  return ts.createProgram({
    rootNames: fileNames,
    options: { ...options, noEmit: true, incremental: false },
    configFileParsingDiagnostics: errors,
    ...(projectReferences === undefined ? {} : { projectReferences }),
  })
}
