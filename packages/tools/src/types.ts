/** `npm run types`: checks the types of all sources, and that no generator is called without taking what it yields. */
import { join, relative } from 'node:path'
import ts from 'typescript'
import { root } from './lib/workspace.ts'
import { unusedGenerators } from './types/unused-generators.ts'

const host: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => process.cwd(),
  getNewLine: () => '\n',
}

export function main(): void {
  let faults = 0
  for (const config of ['tsconfig.json', 'playground/tsconfig.json']) {
    const program = programOf(join(root, config))
    const diagnostics = ts.getPreEmitDiagnostics(program)
    process.stderr.write(ts.formatDiagnostics(diagnostics, host))
    const unused = unusedGenerators(program, join(root, '/'))
    for (const place of unused) console.error(`${relative(process.cwd(), place)}: nothing takes what this generator yields`)
    faults += diagnostics.length + unused.length
  }
  process.exitCode = faults === 0 ? 0 : 1
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
