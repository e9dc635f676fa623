import type { ServerOptions, TestServerOptions, UserRule, UserRules } from './interfaces.ts'
import { checkMembers, invalidOption, type Members } from './known-members.ts'

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
  checkMembers('createTestServer', options, serverOptionNames)
  const { server, users = {}, controllers, startAtMs = 0, traces = 0, kubeconfig = false } = options
  if (server !== undefined) checkMembers('`server`', server, serverNames)
  for (const [user, rules] of Object.entries(users)) checkRules(user, rules)
  if (controllers !== undefined && !Array.isArray(controllers))
    throw invalidOption("`controllers` is a list: ['*', '-job-controller']")
  if (!Number.isFinite(startAtMs))
    throw invalidOption(`\`startAtMs\` is not a number of milliseconds: ${JSON.stringify(startAtMs)}`)
  if (!Number.isSafeInteger(traces) || traces < 0)
    throw invalidOption(`\`traces\` is not a number of requests: ${JSON.stringify(traces)}`)
  if (typeof kubeconfig !== 'boolean') throw invalidOption('`kubeconfig` is true or false; `cluster.kubeconfig.path` is its path')
}

function checkRules(user: string, rules: UserRules): void {
  if (rules === 'all') return
  if (!Array.isArray(rules)) throw invalidOption(`the rules of ${JSON.stringify(user)} are 'all' or a list`)
  for (const rule of rules as readonly UserRule[]) {
    checkMembers(`a rule of ${JSON.stringify(user)}`, rule, ruleNames)
    if (!Array.isArray(rule.verbs)) throw invalidOption(`a rule of ${JSON.stringify(user)} needs \`verbs\`, a list`)
  }
}
