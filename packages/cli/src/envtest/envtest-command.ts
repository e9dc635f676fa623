import { Command, Option } from '../commander.ts'
import { emulatedVersion } from '../flag-values.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'

/** Default controllers: none, because suites for envtest write the status of objects and count on dependents that stay. */
const defaultControllers = ''

/** The sub-command `envtest`. */
export function envtestCommand(terminal: Terminal): Command {
  return new Command('envtest')
    .summary('provide the control plane of Go tests that use envtest')
    .description(
      'Write a folder for KUBEBUILDER_ASSETS whose kube-apiserver is krmkit: tests that use envtest (controller-runtime, kubebuilder, ' +
        'operator-sdk) run unchanged, without downloads and without etcd. Usage: eval "$(krmkit envtest)" && go test ./...',
    )
    .addOption(new Option('--dir <folder>', 'folder to write; default: a folder in the user cache'))
    .addOption(
      new Option('-p, --print <what>', 'path: the folder; env: an export line for the shell')
        .choices(['path', 'env'])
        .default('env'),
    )
    .addOption(new Option('--controllers <names>', 'controllers to run: * for all').default(defaultControllers, 'none'))
    .addOption(
      new Option('--emulated-version <version>', 'release to behave like, 1.21 to 1.37; default: 1.33').argParser(
        emulatedVersion,
      ),
    )
    .action((flags) => runToExitCode(terminal, async () => (await import('./envtest.ts')).runEnvtest(flags, terminal)))
}

/**
 * The hidden sub-command `kube-apiserver`, called by the scripts of `envtest`: translates flags of kube-apiserver to flags of `serve`.
 */
export function kubeApiserverCommand(serve: (args: readonly string[]) => Promise<unknown>): Command {
  return new Command('kube-apiserver')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_options, command: Command) => {
      const { serverArguments } = await import('./server-arguments.ts')
      const { watchParent: followParent } = await import('./watch-parent.ts')
      const started = Number(process.env['KRMKIT_PARENT'])
      const first = Number.isInteger(started) && started > 0 ? started : undefined
      followParent({ initial: first, parent: () => process.ppid, every: everySecond }, () => process.kill(process.pid, 'SIGTERM'))
      await serve(serverArguments(command.args, { controllers: defaultControllers }))
    })
}

function everySecond(fn: () => void): () => void {
  const timer = setInterval(fn, 1000)
  timer.unref()
  return () => clearInterval(timer)
}
