import { Command, Option } from '../commander.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'

/** What runs beside the server unless something else is said: what does not get in the way of tests that count objects. */
const usualControllers = 'namespace-controller,garbage-collector-controller'

/** The sub-command `envtest`. */
export function envtestCommand(terminal: Terminal): Command {
  return new Command('envtest')
    .summary('be the control plane of Go tests that use envtest')
    .description(
      'Write a folder for KUBEBUILDER_ASSETS whose kube-apiserver is krmkit: tests that use envtest (controller-runtime, kubebuilder, ' +
        'operator-sdk) run as they are, with nothing to download and no etcd. Use: eval "$(krmkit envtest)" && go test ./...',
    )
    .addOption(new Option('--dir <folder>', 'where to write; default: a folder in the cache of the user'))
    .addOption(
      new Option('-p, --print <what>', 'path: the folder alone; env: a line for the shell')
        .choices(['path', 'env'])
        .default('env'),
    )
    .addOption(
      new Option('--controllers <names>', 'controllers to run beside the server: * for all, empty for none').default(
        usualControllers,
      ),
    )
    .action((flags) => runToExitCode(terminal, async () => (await import('./envtest.ts')).runEnvtest(flags, terminal)))
}

/**
 * The sub-command `kube-apiserver`, which the programs that `envtest` writes call: `serve`, with the flags that harnesses give to
 * kube-apiserver.
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
      await serve(serverArguments(command.args, { controllers: usualControllers }))
    })
}

function everySecond(fn: () => void): () => void {
  const timer = setInterval(fn, 1000)
  timer.unref()
  return () => clearInterval(timer)
}
