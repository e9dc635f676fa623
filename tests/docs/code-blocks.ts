import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../source-files.ts'

/** Code blocks of documents: checked by the compiler and run as they stand, each as a module that imports the packages by name. */

export interface CodeBlock {
  /** Path from the root, and number of the block in it from 1. */
  readonly name: string
  readonly code: string
}

const settings = readSettings()
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor

/** The TypeScript blocks of a document. */
export function codeBlocksOf(file: string): CodeBlock[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ''], index) => ({ name: `${file} ${index + 1}`, code }))
}

/** What the compiler says about each block alone in a strict project, by the name of the block. */
export function typeErrorsOf(blocks: readonly CodeBlock[]): Map<string, string[]> {
  const modules = new Map(blocks.map(({ name, code }) => [moduleOf(name), `${code}\nexport {}\n`]))
  const host = ts.createCompilerHost(settings)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => modules.has(path) || fileExists(path)
  host.readFile = (path) => modules.get(path) ?? readFile(path)
  host.getSourceFile = (path, languageOptions, ...rest) => {
    const text = modules.get(path)
    return text === undefined ? getSourceFile(path, languageOptions, ...rest) : ts.createSourceFile(path, text, languageOptions)
  }
  const program = ts.createProgram({ rootNames: [...modules.keys()], options: settings, host })
  return new Map(
    blocks.map(({ name }) => {
      const source = program.getSourceFile(moduleOf(name))!
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      return [
        name,
        found.map(({ start = 0, messageText }) => {
          const { line } = source.getLineAndCharacterOfPosition(start)
          return `${ts.flattenDiagnosticMessageText(messageText, ' ')} [${source.text.split('\n')[line]}]`
        }),
      ]
    }),
  )
}

/** Runs a block; `load` returns the module of an import. */
export async function runBlock({ code }: CodeBlock, load: (specifier: string) => Promise<object>): Promise<void> {
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }
  const body = ts
    .transpileModule(code, { compilerOptions: options })
    .outputText.replace(/^export \{\};$/m, '')
    .replace(/^import \{([^}]*)\} from '(.*)';?$/gm, (_, names: string, from: string) => {
      return `const {${names.replace(/\bas\b/g, ':')}} = await load('${from}')`
    })
    .replace(/^import (\w+) from '(.*)';?$/gm, "const { default: $1 } = await load('$2')")
  await new AsyncFunction('load', body)(load)
}

function moduleOf(name: string): string {
  return join(root, 'tests', '.blocks', `${name.replace(/[/ ]/g, '.')}.ts`).replaceAll('\\', '/')
}

function readSettings(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ compilerOptions: config.compilerOptions }, ts.sys, root)
  return { ...options, noEmit: true, composite: false, declaration: false, noUnusedLocals: false }
}
