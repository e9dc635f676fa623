/** What krmkit does in every runtime. The functions are in `checks.ts`, which the tests bundle instead of importing it. */
export const checkNames = [
  'creates, gets, lists and deletes objects',
  'watches changes in their order',
  'follows a collection with an informer',
  'applies with owners and conflicts',
  'validates with the messages of kube-apiserver',
  'serves definitions with expressions',
  'serves a kind of a zod schema',
  'authenticates tokens and authorizes by roles, behind fetch',
  'answers fetch requests in JSON, YAML, protobuf and as streams',
  'applies and explains manifests without a server',
  'validates manifests without a server',
  'tests controllers on a clock with simulated nodes',
] as const

/** What krmkit does in runtimes with ports. The functions are in `port-checks.ts`. */
export const portCheckNames = [
  'serves fetch requests on a port',
  'listens without TLS',
  'listens with TLS',
  'refuses TLS where certificates of clients cannot be read',
] as const

export type PortCheckName = (typeof portCheckNames)[number]
export type CheckName = (typeof checkNames)[number]

export interface CheckResult {
  readonly name: string
  /** Absent when the check passed. */
  readonly error?: string
}
