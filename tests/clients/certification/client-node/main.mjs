// Serves the informer and the client of @kubernetes/client-node to the certification suite, over stdin and stdout: one JSON object a line.
import { createInterface } from 'node:readline'
import { CoreV1Api, KubeConfig, makeInformer, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node'

/** Informers and clients, by number. */
const started = new Map()

function connect({ server }) {
  const config = new KubeConfig()
  config.loadFromFile(server.kubeconfig)
  // As in a pod: the file is read again from time to time. The member tokenFile of a kubeconfig is not supported.
  for (const user of config.users) user.authProvider = { name: 'tokenFile', config: { tokenFile: server.tokenFile } }
  return { config, api: config.makeApiClient(CoreV1Api) }
}

/** An informer that is started again a second after each error, as the documentation of the client shows it. */
function startInformer({ server, namespace, labelSelector }) {
  const { config, api } = connect({ server })
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const list = () => api.listNamespacedConfigMap({ namespace, ...(labelSelector === undefined ? {} : { labelSelector }) })
  const informer = makeInformer(config, path, list, labelSelector)
  const events = []
  informer.on('add', (object) => events.push({ type: 'added', object }))
  informer.on('update', (object) => events.push({ type: 'updated', object }))
  informer.on('delete', (object) => events.push({ type: 'deleted', object }))
  let isStopped = false
  let hasSynced = false
  informer.on('connect', () => {
    hasSynced = informer.latestResourceVersion() !== ''
  })
  informer.on('error', () => {
    setTimeout(() => {
      if (!isStopped) void informer.start()
    }, 1000)
  })
  void informer.start()
  return {
    state: () => ({ hasSynced: hasSynced || informer.latestResourceVersion() !== '', objects: informer.list(), events }),
    stop() {
      isStopped = true
      return informer.stop()
    },
  }
}

const patchTypes = {
  merge: PatchStrategy.MergePatch,
  strategic: PatchStrategy.StrategicMergePatch,
  json: PatchStrategy.JsonPatch,
}

function startClient({ server, namespace }) {
  const { api } = connect({ server })
  const patch = (name, body, type, more = {}) =>
    api.patchNamespacedConfigMap({ name, namespace, body, ...more }, setHeaderOptions('Content-Type', type))
  return {
    get: (name) => api.readNamespacedConfigMap({ name, namespace }),
    create: (body) => api.createNamespacedConfigMap({ namespace, body }),
    update: (body) => api.replaceNamespacedConfigMap({ name: body.metadata.name, namespace, body }),
    patch: (name, { type, patch: body }) => patch(name, body, patchTypes[type]),
    apply: (object, fieldManager) =>
      patch(object.metadata.name, { apiVersion: 'v1', kind: 'ConfigMap', ...object }, PatchStrategy.ServerSideApply, {
        fieldManager,
      }),
    delete: (name, preconditions) => api.deleteNamespacedConfigMap({ name, namespace, body: { preconditions } }),
    async list({ limit, labelSelector, fieldSelector }) {
      const items = []
      let _continue
      do {
        const page = await api.listNamespacedConfigMap({ namespace, limit, labelSelector, fieldSelector, _continue })
        items.push(...page.items)
        _continue = page.metadata._continue
      } while (_continue)
      return items
    },
  }
}

const methods = {
  describe: () => ({ informer: {}, client: ['get', 'list', 'create', 'update', 'patch', 'apply', 'delete'] }),
  start: (params) => add(startInformer(params)),
  state: ({ informer }) => started.get(informer).state(),
  stop: ({ informer }) => started.get(informer).stop(),
  connect: (params) => add(startClient(params)),
  call: ({ client, name, arguments: all }) => started.get(client)[name](...all),
  close: () => undefined,
}

function add(one) {
  started.set(started.size + 1, one)
  return started.size
}

process.on('unhandledRejection', (error) => console.error('unhandled rejection:', error))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  Promise.resolve()
    .then(() => methods[method](params))
    .then(
      (result) => ({ id, result: result ?? null }),
      (error) => ({ id, error: { message: String(error?.message ?? error), code: error?.code ?? error?.statusCode } }),
    )
    .then((response) => process.stdout.write(`${JSON.stringify(response)}\n`))
}
process.exit(0)
