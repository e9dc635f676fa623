import { nearestName } from '@krmkit/base/arguments'
import { type ParsedYaml, parseYaml } from '@krmkit/schema/yaml'
import { CliError, messageOf } from './cli-error.ts'
import { type Command, CommanderError, type Option } from './commander.ts'
import { readText } from './files.ts'

/** The flag that names the file. */
const flagsFileFlag = 'config'

/**
 * Sets the flags of a file: a YAML or JSON object whose members are flags without dashes. A list gives an item to a repeated flag, an
 * object becomes `key=value` pairs. The command line overrides the file, flag by flag.
 *
 * @throws CliError `InvalidFlag` for unknown flags and invalid values, `FileFailed` for a file that cannot be read
 */
export async function applyFlagsFile(command: Command, path: string): Promise<void> {
  for (const [name, value] of Object.entries(parseFlags(await readText(path, flagsFileFlag), path))) {
    const flag = flagNamed(command, name, path)
    const attribute = flag.attributeName()
    if (command.getOptionValueSource(attribute) === 'cli') continue
    command.setOptionValueWithSource(attribute, parsedValue(flag, textsOf(value, `${path}: ${name}`), path), 'config')
  }
}

function parseFlags(text: string, path: string): Record<string, unknown> {
  let read: ParsedYaml
  try {
    read = parseYaml(text)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--${flagsFileFlag}: ${path} is not YAML: ${messageOf(cause)}`, cause })
  }
  const { value: parsed, problems } = read
  if (problems.length > 0) throw invalid(`${path}: ${problems.join('; ')}`)
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Record<string, unknown>
  throw invalid(`${path} must be an object whose members are flags, such as secure-port: 6443`)
}

function flagNamed(command: Command, name: string, path: string): Option {
  const flag = command.options.find(({ long }) => long === `--${name}`)
  if (flag !== undefined && name !== flagsFileFlag) return flag
  const names = command.options.flatMap(({ long }) => (long == null ? [] : [long.slice(2)]))
  const nearest = nearestName(name, names)
  throw invalid(`${path}: unknown flag ${JSON.stringify(name)}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`)
}

function textsOf(value: unknown, where: string): readonly string[] {
  if (Array.isArray(value)) return value.map((item) => scalarText(item, where))
  if (typeof value !== 'object' || value === null) return [scalarText(value, where)]
  const pairs = Object.entries(value).map(([key, each]) => `${key}=${scalarText(each, where)}`)
  return pairs.length === 0 ? [] : [pairs.join(',')]
}

function scalarText(value: unknown, where: string): string {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value)
  throw invalid(`${where} must be a text, a number, a boolean, a list or an object of these`)
}

/** Parses texts as the command line parses a flag that is repeated. */
function parsedValue(flag: Option, texts: readonly string[], path: string): unknown {
  try {
    let value: unknown
    for (const text of texts) value = flag.parseArg === undefined ? text : flag.parseArg(text, value)
    return texts.length === 0 ? flag.defaultValue : value
  } catch (cause) {
    if (cause instanceof CommanderError) throw invalid(`${path}: ${flag.long?.slice(2)}: ${cause.message}`)
    throw cause
  }
}

function invalid(message: string): CliError {
  return new CliError({ code: 'InvalidFlag', message: `--${flagsFileFlag}: ${message}` })
}
