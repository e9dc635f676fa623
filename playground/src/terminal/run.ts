import { auth } from './access-commands.ts'
import { isSet, parseArguments, splitWords } from './arguments.ts'
import { explain } from './explain-command.ts'
import { logs } from './log-command.ts'
import { apiResources, apiVersions, describe, events, get, version } from './read-commands.ts'
import { Session, type SessionOptions } from './session.ts'
import { TerminalError } from './terminal-error.ts'
import { annotate, apply, create, label, patch, remove, replace, scale } from './write-commands.ts'

/** The commands of the terminal by name, with one line of help each. */
const commands: Readonly<Record<string, readonly [run: (session: Session) => Promise<void>, usage: string]>> = {
  get: [get, 'get TYPE [NAME...] [-n NS | -A] [-l SELECTOR] [-o yaml|json|name|wide] [-w]'],
  describe: [describe, 'describe TYPE [NAME...]'],
  create: [create, 'create -f editor | create namespace|configmap|serviceaccount NAME [--from-literal=K=V]'],
  apply: [apply, 'apply -f editor [--server-side] [--force-conflicts] [--field-manager NAME] [--dry-run=server]'],
  replace: [replace, 'replace -f editor'],
  patch: [patch, "patch TYPE NAME -p '{...}' [--type strategic|merge|json] [--subresource NAME]"],
  delete: [remove, 'delete TYPE NAME... | delete -f editor | delete TYPE --all | -l SELECTOR'],
  scale: [scale, 'scale TYPE NAME --replicas N'],
  label: [label, 'label TYPE NAME KEY=VALUE KEY- [--overwrite]'],
  annotate: [annotate, 'annotate TYPE NAME KEY=VALUE KEY- [--overwrite]'],
  explain: [explain, 'explain TYPE[.FIELD...] [--recursive]'],
  auth: [auth, 'auth can-i VERB RESOURCE [NAME] [--as USER --as-group GROUP] | auth whoami'],
  events: [events, 'events [-w]'],
  logs: [logs, 'logs POD [-c CONTAINER] [--previous]'],
  'api-resources': [apiResources, 'api-resources [--api-group GROUP]'],
  'api-versions': [apiVersions, 'api-versions'],
  version: [version, 'version'],
}

/**
 * Runs one line of the terminal, with or without `kubectl` at its beginning.
 *
 * @returns the exit code: 0, or 1 after an error, which is printed.
 */
export async function runLine(line: string, options: SessionOptions): Promise<number> {
  try {
    const words = splitWords(line)
    if (words[0] === 'kubectl' || words[0] === 'k') words.shift()
    const [name = 'help', ...rest] = words
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (name === 'help' || name === '--help') options.output.print(helpText())
    else if (command === undefined)
      throw new TerminalError(`unknown command "${name}"; available: ${Object.keys(commands).join(', ')}`)
    else {
      const given = parseArguments(rest)
      if (isSet(given, 'help')) options.output.print(`Usage: ${command[1]}\n`)
      else await command[0](new Session(given, options))
    }
    return 0
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error
    options.output.warn(error.message.startsWith('Error') ? error.message : `error: ${error.message}`)
    return 1
  }
}

function helpText(): string {
  return `Commands, with or without "kubectl" before them; -f names the editor:\n\n${Object.values(commands)
    .map(([, usage]) => `  ${usage}\n`)
    .join('')}`
}
