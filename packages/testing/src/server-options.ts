import type { ServerOptions, TestServerOptions, UserRule, UserRules } from './interfaces.ts'
import { checkMembers, invalidOption, type Members } from './known-members.ts'
import { checkFunctions, checkKind, checkKinds, shown } from './option-kinds.ts'

/** Names of the options of a test server. */
export const serverOptionNames: Members<TestServerOptions> = {
  seed: true,
  from: true,
  kubeconfig: true,
  users: true,
  controllers: true,
  cluster: true,
  clock: true,
  startAtMs: true,
  rootCA: true,
  legacyToken: true,
  signing: true,
  signerRules: true,
  metrics: true,
  emulate: true,
  faults: true,
  authenticator: true,
  server: true,
  traces: true,
  onError: true,
}

const serverNames: Members<ServerOptions> = {
  kinds: true,
  emulate: true,
  types: true,
  authorizer: true,
  bootstrapRoles: true,
  serviceNetwork: true,
  allowPrivileged: true,
  requestSignatureError: true,
  serviceAccountIssuer: true,
  issuerDocuments: true,
  proxyHeaders: true,
  admission: true,
  aggregation: true,
  proxy: true,
  conversion: true,
  random: true,
  profile: true,
  features: true,
  limits: true,
  yamlTranslator: true,
  corsAllowedOrigins: true,
  strictTransportSecurity: true,
  flowControl: true,
  onError: true,
  tracer: true,
  readiness: true,
  flags: true,
  serverAddress: true,
  replica: true,
}
const ruleNames: Members<UserRule> = {
  verbs: true,
  apiGroups: true,
  resources: true,
  resourceNames: true,
  namespaces: true,
  nonResourceURLs: true,
}

/** @throws TestingError `InvalidOption` */
export function checkServerOptions(options: TestServerOptions): void {
  checkPlaces(options)
  checkMembers('createTestServer', options, serverOptionNames)
  const { server, users = {}, controllers, startAtMs = 0, traces = 0, kubeconfig = false } = options
  if (server !== undefined) checkMembers('`server`', server, serverNames)
  for (const [user, rules] of Object.entries(users)) checkRules(user, rules)
  if (controllers !== undefined && !Array.isArray(controllers))
    throw invalidOption("`controllers` is a list: ['*', '-job-controller']")
  if (controllers !== undefined) checkKind('`controllers`', controllers, 'texts')
  checkParts(options)
  if (!Number.isFinite(startAtMs)) throw invalidOption(`\`startAtMs\` is not a number of milliseconds: ${shown(startAtMs)}`)
  if (!Number.isSafeInteger(traces) || traces < 0) throw invalidOption(`\`traces\` is not a number of requests: ${shown(traces)}`)
  if (typeof kubeconfig !== 'boolean') throw invalidOption('`kubeconfig` is true or false; `cluster.kubeconfig.path` is its path')
}

/** Rejects server options that must be members of `server`. */
function checkPlaces(options: TestServerOptions): void {
  const isMisplaced = (name: string) => !Object.hasOwn(serverOptionNames, name) && Object.hasOwn(serverNames, name)
  const name = Object.keys(Object(options)).find(isMisplaced)
  if (name !== undefined) throw invalidOption(`createTestServer has no "${name}"; write server: { ${name} }`)
}

/** Validates options that contain objects with methods. */
function checkParts({ seed, clock, startAtMs, authenticator, metrics, signing, ...options }: TestServerOptions): void {
  checkKinds('createTestServer', options, { from: 'text', rootCA: 'text', emulate: 'text', onError: 'function' })
  if (seed !== undefined && typeof seed !== 'string' && !Array.isArray(seed))
    throw invalidOption('`seed` is a folder or a list of folders, files and objects')
  if (clock !== undefined) checkFunctions('`clock`', clock, ['now', 'setTimeout'])
  if (clock !== undefined && startAtMs !== undefined)
    throw invalidOption('`startAtMs` is the time of the virtual clock, which `clock` replaces')
  if (authenticator !== undefined) checkFunctions('`authenticator`', authenticator, ['authenticate'])
  if (metrics !== undefined) {
    checkMembers('`metrics`', metrics, metricNames)
    checkKinds('`metrics`', metrics, { resource: 'function', pods: 'function', object: 'function', external: 'function' })
  }
  if (signing !== undefined && signing !== 'none' && (typeof signing !== 'object' || !('signers' in signing)))
    throw invalidOption("`signing` is { signers }, or 'none'")
}

const metricNames: Members<NonNullable<TestServerOptions['metrics']>> = {
  resource: true,
  pods: true,
  object: true,
  external: true,
}

function checkRules(user: string, rules: UserRules): void {
  if (rules === 'all') return
  if (!Array.isArray(rules)) throw invalidOption(`the rules of ${JSON.stringify(user)} are 'all' or a list`)
  for (const rule of rules as readonly UserRule[]) {
    checkMembers(`a rule of ${JSON.stringify(user)}`, rule, ruleNames)
    if (!Array.isArray(rule.verbs) || rule.verbs.length === 0)
      throw invalidOption(`a rule of ${JSON.stringify(user)} needs \`verbs\`, a list`)
    for (const name of Object.keys(ruleNames)) checkKinds(`a rule of ${JSON.stringify(user)}`, rule, { [name]: 'texts' })
  }
}
