import { Argument, Command } from '../commander.ts'
import { runToExitCode } from '../offline/command.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { completionScript, type Shell, shells } from './scripts.ts'

/** The sub-command `completion`, for the commands of the program that it belongs to. */
export function completionCommand(terminal: Terminal): Command {
  return new Command('completion')
    .summary('print a script that completes commands and flags in a shell')
    .description('Print a script that completes commands, flags and their values in a shell.')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText(
      'after',
      '\nbash:  source <(krmkit completion bash)\nzsh:   source <(krmkit completion zsh), after compinit\nfish:  krmkit completion fish | source',
    )
    .action((shell: Shell, _options: object, self: Command) =>
      runToExitCode(terminal, async () => {
        const { completableCommands } = await import('./command-line.ts')
        terminal.out(completionScript(shell, completableCommands(self.parent ?? self)))
        return exitCodes.success
      }),
    )
}
