/** Starts the two sides: `krmkit serve` with simulated nodes, with its own controllers or with a stock kube-controller-manager. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtInControllers } from '@krmkit/controllers'
import { ApiEndpoint } from '../api-endpoint.ts'
import { firstMatch, Processes } from '../divergence/servers.ts'

export interface ControllersSide {
  readonly name: 'krmkit' | 'stock'
  readonly endpoint: ApiEndpoint
  stop(): Promise<void>
}

const token = 'admin-token'
/** Controllers that both sides take from krmkit, since they stand for other components than the controller manager. */
const shared: ReadonlySet<string> = new Set(['kube-scheduler', 'volume-simulator'])

/** Usage of containers for `kubectl top`, by the label `usage` of their pod. */
const simulation = {
  behaviors: [
    { match: { labels: { matchLabels: { usage: 'high' } } }, usage: { cpu: '180m', memory: '64Mi' } },
    { match: { labels: { matchLabels: { usage: 'low' } } }, usage: { cpu: '20m', memory: '8Mi' } },
    { match: { image: 'missing:1' }, pullError: 'manifest unknown' },
  ],
}

/** @param command the bundled `krmkit` command */
export async function startSide(
  name: ControllersSide['name'],
  { command, manager }: { readonly command: string; readonly manager: string },
): Promise<ControllersSide> {
  const processes = new Processes(`controllers-${name}`)
  const { folder } = processes
  writeFileSync(join(folder, 'simulation.yaml'), JSON.stringify(simulation))
  const excluded = builtInControllers.filter((each) => !shared.has(each.name)).map((each) => `-${each.name}`)
  const child = processes.start(process.execPath, [
    ...[command, 'serve', '--secure-port=0', `--data-dir=${join(folder, 'data')}`, '--storage=memory'],
    ...['--simulate-nodes=3', `--simulation-file=${join(folder, 'simulation.yaml')}`],
    ...[`--token-auth-file=${join(folder, 'tokens.csv')}`, '--enable-admission-plugins=ServiceAccount'],
    ...(name === 'stock' ? [`--controllers=${excluded.join(',')}`] : []),
  ])
  const url = await firstMatch(child, /serves (https:\/\/[^\s;]+)/)
  if (url === undefined) throw new Error(`krmkit does not start: ${processes.log}`)
  if (name === 'stock') {
    processes.start(manager, [
      ...[`--kubeconfig=${join(folder, 'data/admin.kubeconfig')}`, '--leader-elect=false', '--secure-port=0'],
      ...[`--service-account-private-key-file=${join(folder, 'data/pki/sa.key')}`],
      ...[`--root-ca-file=${join(folder, 'data/pki/ca.crt')}`, '--kube-api-qps=1000', '--kube-api-burst=1000'],
    ])
  }
  const endpoint = new ApiEndpoint(name, Number(new URL(url).port), token)
  return {
    name,
    endpoint,
    stop: async () => {
      endpoint.close()
      await processes.stop()
    },
  }
}
