import type { Command } from '../commander.ts'

/** What a command accepts after its name, for the completion of shells. */
export interface CompletableCommand {
  /** Names from the program down, without it: `storage migrate`; empty: the program. */
  readonly path: string
  readonly words: readonly CompletableWord[]
}

/** A sub-command or a flag. */
export interface CompletableWord {
  /** `migrate` or `--storage`. */
  readonly word: string
  /** One line. */
  readonly description: string
  readonly isFlag: boolean
  /** All values that a flag takes; empty: any. */
  readonly choices: readonly string[]
}

/** The program and its commands, each before those below it. Hidden commands and flags are left out. */
export function completableCommands(program: Command, path = ''): CompletableCommand[] {
  const help = program.createHelp()
  const commands = help.visibleCommands(program).filter((command) => command.name() !== 'help')
  const words = [
    ...commands.map((command) => word(command.name(), command.summary() || command.description(), { isFlag: false })),
    ...help.visibleOptions(program).flatMap(({ long, short, description, argChoices }) => {
      const flag = long ?? short
      return flag == null ? [] : [word(flag, description, { isFlag: true, choices: argChoices ?? [] })]
    }),
  ]
  const below = commands.flatMap((command) => completableCommands(command, `${path} ${command.name()}`.trim()))
  return [{ path, words }, ...below]
}

function word(
  name: string,
  description: string,
  { isFlag, choices = [] }: { readonly isFlag: boolean; readonly choices?: readonly string[] },
): CompletableWord {
  const [line = ''] = description.split('\n')
  return { word: name, description: line, isFlag, choices }
}
