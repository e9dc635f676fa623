import type { BootstrapTokenUsage } from '@krmkit/certificates/bootstrap'
import { foregroundClock, systemRandom } from '@krmkit/meta'
import { Command, InvalidArgumentError, Option } from '../commander.ts'
import { append, duration, list } from '../flag-values.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { joiningGroup, signingKeys, tokenUsages } from './options.ts'

const load = () => import('./tokens.ts')

/** The command `token` with its sub-commands. */
export function tokenCommand(terminal: Terminal): Command {
  return new Command('token')
    .summary('manage bootstrap tokens, with which nodes and users join')
    .description('Create, list and delete bootstrap tokens, and publish the cluster information for them.')
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(deleteCommand(terminal))
    .addCommand(generateCommand(terminal))
    .addCommand(publishCommand(terminal))
}

function createCommand(terminal: Terminal): Command {
  const command = new Command('create')
    .description('Create a token on the server and print it.')
    .argument('[token]', 'ID.SECRET, or - to read it from standard input; default: generated')
    .addOption(
      new Option('--ttl <duration>', 'lifetime of the token; 0: until it is deleted')
        .default(86_400_000, '24h0m0s')
        .argParser(duration),
    )
    .addOption(
      new Option('--usages <names>', `usages of the token: ${tokenUsages.join(', ')}`)
        .default(tokenUsages, tokenUsages.join(','))
        .argParser(usages),
    )
    .addOption(
      new Option('--groups <names>', 'groups of the user, each with the prefix system:bootstrappers:')
        .default([joiningGroup], joiningGroup)
        .argParser((text) => list(text)),
    )
    .addOption(new Option('--description <text>', 'human-readable description'))
    .addOption(new Option('--print-join-command', 'print the join command instead of the token').default(false))
  return withServer(command).action((token, flags) =>
    runToExitCode(terminal, async () => (await load()).runCreate(token, flags, { terminal, random: systemRandom })),
  )
}

function listCommand(terminal: Terminal): Command {
  const command = new Command('list')
    .description('List the tokens of the server.')
    .addOption(new Option('-o, --output <form>', 'output format').choices(['text', 'json', 'yaml']).default('text'))
  return withServer(command).action((flags) => runToExitCode(terminal, async () => (await load()).runList(flags, terminal)))
}

function deleteCommand(terminal: Terminal): Command {
  const command = new Command('delete').description('Delete tokens.').argument('<token...>', 'ids or whole tokens')
  return withServer(command).action((tokens, flags) =>
    runToExitCode(terminal, async () => (await load()).runDelete(tokens, flags, terminal)),
  )
}

function generateCommand(terminal: Terminal): Command {
  return new Command('generate')
    .description('Generate and print a token without creating it on a server.')
    .action(() => runToExitCode(terminal, async () => (await load()).runGenerate(terminal, systemRandom)))
}

function publishCommand(terminal: Terminal): Command {
  const command = new Command('publish-cluster-info')
    .description(
      'Publish ConfigMap cluster-info, readable without authentication, and the RBAC rules of joining nodes, as kubeadm does.',
    )
    .addOption(new Option('--server <url>', 'URL of the server (default: of the kubeconfig)'))
  return withServer(command).action((flags) => runToExitCode(terminal, async () => (await load()).runPublish(flags, terminal)))
}

/** The command `join-info`. */
export function joinInfoCommand(terminal: Terminal): Command {
  return new Command('join-info')
    .summary('print a kubeconfig for the bearer of a bootstrap token')
    .description('Discover a cluster with a bootstrap token and print a kubeconfig for its bearer.')
    .argument('<server>', 'HOST:PORT of the cluster')
    .addOption(new Option('--token <token>', 'ID.SECRET, or - to read it from standard input').makeOptionMandatory())
    .addOption(
      new Option(
        '--discovery-token-ca-cert-hash <hash>',
        'public key pin of the cluster authority: sha256:DIGEST; may be repeated',
      )
        .default([], 'none')
        .argParser(append),
    )
    .addOption(
      new Option('--discovery-token-unsafe-skip-ca-verification', 'trust any server that knows the token').default(false),
    )
    .addOption(
      new Option('--bootstrap-signing-key <key>', 'key that signs cluster-info').choices(signingKeys).default('token-secret'),
    )
    .addOption(new Option('--timeout <duration>', 'time limit of the discovery').default(300_000, '5m0s').argParser(duration))
    .addOption(new Option('--write-kubeconfig <file>', 'write the kubeconfig to a file (mode 0600) instead of printing it'))
    .action((server, flags) =>
      runToExitCode(terminal, async () =>
        (await import('./join-info.ts')).runJoinInfo(server, flags, { terminal, clock: foregroundClock }),
      ),
    )
}

function withServer(command: Command): Command {
  return command
    .addOption(new Option('--kubeconfig <file>', 'kubeconfig of the server (default: like kubectl)'))
    .addOption(new Option('--context <name>', 'context of the kubeconfig'))
}

function usages(text: string): readonly BootstrapTokenUsage[] {
  const names = list(text)
  const unknown = names.find((name) => !(tokenUsages as readonly string[]).includes(name))
  if (unknown === undefined && names.length > 0) return names as readonly BootstrapTokenUsage[]
  throw new InvalidArgumentError(`Usages must be of ${tokenUsages.join(', ')}.`)
}
