import { resolve } from 'node:path'
import { defaultRelease } from '@krmkit/meta'
import type { RunningServer } from './serve.ts'
import type { ServeOptions } from './serve-options.ts'

/** What `serve` prints when it is ready: the address, the release, where data are and how to stop. Programs read the first line. */
export function startText({ url, kubeconfig }: Pick<RunningServer, 'url' | 'kubeconfig'>, options: ServeOptions): string {
  const { emulatedVersion = defaultRelease, controllers, threads } = options
  const hint = kubeconfig === undefined ? '' : `; try: kubectl --kubeconfig ${kubeconfig} get namespaces`
  const running = controllers.length === 0 ? 'without controllers' : `controllers: ${controllers.join(',')}`
  const workers = threads === 0 ? '' : `; worker processes: ${threads}`
  return [
    `krmkit serves ${url}${hint}`,
    `  API:  Kubernetes ${emulatedVersion}; ${running}${workers}`,
    `  data: ${dataText(options)}`,
    '  stop: Ctrl-C or SIGTERM; a second signal ends it at once',
    '',
  ].join('\n')
}

function dataText({ storage, dataDir, etcdServers, etcdPrefix }: ServeOptions): string {
  switch (storage) {
    case 'memory':
      return 'in memory, lost at exit; --storage durable keeps them'
    case 'durable':
      return resolve(dataDir, 'data')
    case 'etcd':
      return `etcd at ${etcdServers.join(', ')}, below ${etcdPrefix}`
  }
}
