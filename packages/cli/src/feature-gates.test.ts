import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
import type { JsonObject } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import { serve } from './serve.ts'
import { serveOptions } from './testing/run-command.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

/** Gates that decide which flags the command accepts, and what its listener and its tokens do. */

const folder = temporaryFolder({ perTest: true })
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const start = async (...flags: string[]) => {
  const serving = await serve(await serveOptions(`${folder}/data`, ['--controllers=', ...flags]), {
    info: () => undefined,
    error: () => undefined,
  })
  closing.push(() => serving.close())
  const client = createRemoteClient(await loadKubeconfig({ path: serving.kubeconfig! }))
  closing.push(() => client.close())
  return client
}
const file = async (content: object) => {
  const path = join(folder, 'configuration.yaml')
  await writeFile(path, JSON.stringify(content))
  return path
}

describe('flags of features that are off are refused', () => {
  it.each([
    [
      'StructuredAuthenticationConfiguration',
      'authentication-config',
      'set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file',
    ],
    [
      'AnonymousAuthConfigurableEndpoints',
      'authentication-config',
      'anonymous is not supported when AnonymousAuthConfigurableEnpoints feature gate is disabled',
    ],
  ])('%s: --%s [P332]', async (gate, flag, message) => {
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
    const path = await file({ apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration', anonymous })
    await start(`--${flag}=${path}`)
    await expect(start(`--${flag}=${path}`, `--feature-gates=${gate}=false`)).rejects.toThrow(message)
  })

  it('RemoteRequestHeaderUID: --requestheader-uid-headers [P332]', async () => {
    await expect(
      start('--requestheader-uid-headers=X-Remote-Uid', '--feature-gates=RemoteRequestHeaderUID=false'),
    ).rejects.toThrow('--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled')
  })

  it('StructuredAuthorizationConfiguration: --authorization-config in releases where it can be off [P332]', async () => {
    const authorizers = [{ type: 'RBAC', name: 'rbac' }]
    const path = await file({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers })
    await start(`--authorization-config=${path}`)
    await expect(start(`--authorization-config=${path}`, '--emulated-version=1.29')).rejects.toThrow(
      '--authorization-config cannot be used without enabling StructuredAuthorizationConfiguration feature flag',
    )
  })

  it('ServiceAccountTokenNodeBinding needs the validation of such tokens [P332]', async () => {
    const gates = 'ServiceAccountTokenNodeBinding=true,ServiceAccountTokenNodeBindingValidation=false'
    await expect(start('--emulated-version=1.31', `--feature-gates=${gates}`)).rejects.toThrow(
      'the "ServiceAccountTokenNodeBinding" feature gate can only be enabled if the "ServiceAccountTokenNodeBindingValidation" feature gate is also enabled',
    )
  })
})

it('ServiceAccountTokenJTI gives tokens an id, which their users carry [P332]', async () => {
  const extraOf = async (...flags: string[]) => {
    const client = await start(...flags)
    // biome-ignore lint/suspicious/noExplicitAny: tests inspect arbitrary responses
    const post = async (path: string, body: JsonObject): Promise<any> =>
      (await client.request({ method: 'POST', path, body })).json()
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } })
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const { status } = await post(`${accounts}/a/token`, request)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: status.token } }
    const claims = JSON.parse(Buffer.from(status.token.split('.')[1], 'base64url').toString())
    const reviewed = await post('/apis/authentication.k8s.io/v1/tokenreviews', review)
    return { jti: claims.jti, extra: Object.keys(reviewed.status.user.extra ?? {}) }
  }
  expect(await extraOf()).toEqual({ jti: expect.any(String), extra: ['authentication.kubernetes.io/credential-id'] })
  expect(await extraOf('--emulated-version=1.29', '--data-dir', `${folder}/older`)).toEqual({ jti: undefined, extra: [] })
})

it('ComponentFlagz shows the flags of the process [P332]', async () => {
  const client = await start('--feature-gates=ComponentFlagz=true', '--runtime-config=api/beta=true')
  const response = await client.request({ path: '/flagz', headers: { accept: 'text/plain' } })
  const text = await response.text()
  expect(response.status).toBe(200)
  expect(text).toContain('\nfeature-gates=ComponentFlagz=true\n')
  expect(text).toContain('\nruntime-config=[api/beta=true]\n')
})
