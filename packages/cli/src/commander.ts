/** The only module that imports the command line library. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'

export { Argument, Command, CommanderError, InvalidArgumentError, Option }

/** A flag, such as `--secure-port <port>`, with its help text. */
export function option(flags: string, description: string): Option {
  return new Option(flags, description)
}

/** Adds flags below a heading of the help. Flags that are added under the same heading again join the group. */
export function addOptionGroup(command: Command, heading: string, options: readonly Option[]): Command {
  command.optionsGroup(`${heading}:`)
  for (const each of options) command.addOption(each)
  return command
}
