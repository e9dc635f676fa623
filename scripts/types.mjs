#!/usr/bin/env node
// `npm run types`: checks the types of all sources, and that no generator is called without taking what it yields.
import { relative } from 'node:path'
import ts from 'typescript'
import { root } from './setup.mjs'
import { unusedGenerators } from './unused-generators.mjs'

const host = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => process.cwd(),
  getNewLine: () => '\n',
}

let faults = 0
for (const config of ['tsconfig.json', 'playground/tsconfig.json']) {
  const { options, fileNames, errors, projectReferences } = ts.getParsedCommandLineOfConfigFile(
    `${root}/${config}`,
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
        throw new Error(ts.formatDiagnostic(diagnostic, host))
      },
    },
  )
  const program = ts.createProgram({
    rootNames: fileNames,
    options: { ...options, noEmit: true, incremental: false },
    configFileParsingDiagnostics: errors,
    ...(projectReferences === undefined ? {} : { projectReferences }),
  })
  const diagnostics = ts.getPreEmitDiagnostics(program)
  process.stderr.write(ts.formatDiagnostics(diagnostics, host))
  const unused = unusedGenerators(program, `${root}/`)
  for (const place of unused) console.error(`${relative(process.cwd(), place)}: nothing takes what this generator yields`)
  faults += diagnostics.length + unused.length
}
process.exitCode = faults === 0 ? 0 : 1
