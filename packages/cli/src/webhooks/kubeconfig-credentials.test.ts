import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { kubeconfigCredentials } from './kubeconfig-credentials.ts'

const folder = temporaryFolder({ perTest: true })

const credentials = async (text: string) => {
  const path = join(folder, 'kubeconfig')
  await writeFile(path, text)
  return kubeconfigCredentials(path)
}

describe('kubeconfigCredentials', () => {
  it('returns the user named like the host of the webhook', async () => {
    const choose = await credentials(`
users:
- name: hook.shop.svc
  user: {token: one}
- name: "*.other.svc:8443"
  user: {username: u, password: p}
- name: me
  user: {token: two}
contexts:
- name: x
  context: {user: me}
current-context: x
`)
    expect(await choose('hook.shop.svc:443')?.authorization?.()).toBe('Bearer one')
    expect(await choose('a.other.svc:8443')?.authorization?.()).toBe(`Basic ${btoa('u:p')}`)
    expect(await choose('example.com:443')?.authorization?.()).toBe('Bearer two')
  })

  it('reads files relative to the kubeconfig, and the token file for each request', async () => {
    for (const [name, text] of Object.entries({ crt: 'CERT', key: 'KEY', token: 'old' }))
      await writeFile(join(folder, name), text)
    const choose = await credentials('users: [{name: "*", user: {client-certificate: crt, client-key: key, tokenFile: token}}]')
    const found = choose('x:1')
    expect(found).toMatchObject({ certificate: 'CERT', key: 'KEY' })
    await writeFile(join(folder, 'token'), 'new\n')
    expect(await found?.authorization?.()).toBe('Bearer new')
  })

  it.each([
    ['a certificate without a key', 'users: [{name: "*", user: {client-certificate-data: AAAA}}]', 'go together'],
    ['an exec plugin', 'users: [{name: "*", user: {exec: {command: x}}}]', 'exec is not supported'],
    ['users that are not a list', 'users: 7', 'users is not a list'],
    ['a user that is not an object', 'users: [{name: "*", user: token}]', 'expected an object'],
    ['a token that is not a string', 'users: [{name: "*", user: {token: 7}}]', 'token is not a string'],
    ['a misspelled credential', 'users: [{name: "*", user: {tokenfile: x}}]', '"tokenfile" is not a member of a user'],
    ['invalid base64 data', 'users: [{name: "*", user: {client-certificate-data: A*AA, client-key-data: AAAA}}]', 'not base64'],
    ['a missing file', 'users: [{name: "*", user: {client-certificate: gone, client-key: gone}}]', 'cannot read'],
  ])('rejects %s', async (_, text, message) => {
    await expect(credentials(text)).rejects.toThrow(message)
  })

  it('rejects an empty token file', async () => {
    await writeFile(join(folder, 'token'), '\n')
    const choose = await credentials('users: [{name: "*", user: {tokenFile: token}}]')
    expect(() => choose('x:1')?.authorization?.()).toThrow('is empty')
  })

  it('requires an absolute path', () => {
    expect(() => kubeconfigCredentials('relative')).toThrow('must be an absolute file path')
  })

  it('supports users named like a property of Object.prototype', async () => {
    const choose = await credentials('users: [{name: __proto__, user: {token: x}}]')
    expect(choose('x:1')).toBeUndefined()
  })
})
