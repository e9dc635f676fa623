import type { TestServerOptions } from './interfaces.ts'
import { checkMembers, type Members } from './known-members.ts'

const optionNames: Members<TestServerOptions> = {
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

/** @throws TestingError `InvalidOption` */
export function checkServerOptions(options: TestServerOptions): void {
  checkMembers('createTestServer', options, optionNames)
}
