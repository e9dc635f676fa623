import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { CreateError } from './create-error.ts'
import { type CreatedProject, createProject } from './create-project.ts'
import { isTemplateName, type TemplateName, templates } from './templates.ts'

/** The terminal of the command. */
export interface Terminal {
  /** Writes one line of output. */
  print(line: string): void
  /** Writes one line of errors. */
  fail(line: string): void
  /**
   * Asks a question and returns the line that the user enters. Absent: there is no terminal, and all values must be given by
   * flags.
   */
  readonly ask?: (question: string) => Promise<string>
  readonly env: Readonly<Record<string, string | undefined>>
}

const flags = {
  template: { type: 'string', short: 't' },
  name: { type: 'string' },
  tarballs: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

const width = Math.max(...templates.map(({ name }) => name.length)) + 2

const help = `Usage: npm create krmkit [folder] -- [flags]

Creates a project with krmkit in a new or empty folder. It asks for the folder and the template if they are not given.

Templates:
${templates.map(({ name, description }) => `  ${name.padEnd(width)}${description}`).join('\n')}

Flags:
  -t, --template <name>  template of the project
  --name <name>          name in package.json (default: the name of the folder)
  --tarballs <folder>    install krmkit from the packed packages in this folder, without a registry (default: KRMKIT_TARBALLS)
  -h, --help             print this text`

/**
 * Runs the command.
 *
 * @returns the exit code: 0 when the project exists, 1 when it could not be created, 2 for invalid flags.
 */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const { values, positionals } = parse(args)
    if (values.help === true) {
      terminal.print(help)
      return 0
    }
    const folder = positionals[0] ?? (await askFolder(terminal))
    const template = values.template ?? (await askTemplate(terminal))
    const tarballs = values.tarballs ?? terminal.env['KRMKIT_TARBALLS']
    const project = createProject({
      folder,
      // `createProject` checks the name.
      template: template as TemplateName,
      ...(values.name === undefined ? {} : { name: values.name }),
      ...(tarballs === undefined || tarballs === '' ? {} : { tarballs }),
    })
    printNextSteps(project, template, terminal)
    return 0
  } catch (error) {
    if (!(error instanceof CreateError)) throw error
    terminal.fail(`create-krmkit: ${error.message}`)
    return error.code === 'InvalidFlag' ? 2 : 1
  }
}

function parse(args: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...args], options: flags, allowPositionals: true })
    if (parsed.positionals.length <= 1) return parsed
  } catch (error) {
    // `parseArgs` throws only errors about invalid flags.
    throw invalidFlag(error instanceof Error ? error.message : String(error))
  }
  throw invalidFlag('one folder can be named; flags of the command follow `--`')
}

function invalidFlag(message: string): CreateError {
  return new CreateError({ code: 'InvalidFlag', message: `${message}\n\n${help}` })
}

async function askFolder({ ask }: Terminal): Promise<string> {
  if (ask === undefined) throw invalidFlag('name the folder of the project')
  const suggestion = 'my-krmkit'
  const answer = (await ask(`Folder (${suggestion}): `)).trim()
  return answer === '' ? suggestion : answer
}

/** Asks for a template by number or name; repeats the question after an invalid answer. */
async function askTemplate({ ask, print }: Terminal): Promise<string> {
  if (ask === undefined) throw invalidFlag('name a template with --template')
  for (const [index, { name, description }] of templates.entries()) print(`  ${index + 1}  ${name.padEnd(width)}${description}`)
  for (;;) {
    const answer = (await ask(`Template (1 to ${templates.length}): `)).trim()
    const chosen = templates[Number(answer) - 1]?.name ?? answer
    if (isTemplateName(chosen)) return chosen
  }
}

function printNextSteps({ folder, files }: CreatedProject, template: string, { print }: Terminal): void {
  const path = relative(process.cwd(), folder)
  print(`Created ${folder} from the template ${template}: ${files.length} files.`)
  print('')
  if (path !== '') print(`  cd ${path.includes(' ') ? JSON.stringify(path) : path}`)
  print('  npm install')
  print('  npm test')
}
