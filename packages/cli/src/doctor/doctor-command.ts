import { Command, Option, option } from '../commander.ts'
import { address, integer } from '../flag-values.ts'
import { colorOption, exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { dataDirOption } from '../storage/store-files.ts'
import type { DoctorFlags } from './run.ts'

/** The sub-command `doctor`. */
export function doctorCommand(terminal: Terminal): Command {
  return new Command('doctor')
    .summary('check whether a server can start here')
    .description('Check versions, the data folder, its kubeconfig, the port and durable storage, and say what to do.')
    .addOption(dataDirOption())
    .addOption(option('--bind-address <address>', 'IP address to listen on').default('127.0.0.1').argParser(address))
    .addOption(
      option('--secure-port <port>', 'port to listen on')
        .default(6443)
        .argParser(integer({ min: 0, max: 65_535 })),
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .addOption(colorOption())
    .addHelpText('after', exitCodeHelp('a server can start', 'a check failed'))
    .action((flags: DoctorFlags) => runToExitCode(terminal, async () => (await import('./run.ts')).runDoctor(flags, terminal)))
}
