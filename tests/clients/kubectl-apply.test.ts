import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Json, type Kubectl, type KubectlWorld, kubectlMissing, skipNote, startKubectlWorld } from './support/kubectl.ts'
import { configMap, deployment } from './support/manifests.ts'

/** Stock kubectl apply: server-side, client-side, and switching between them. Each test has its own namespace. */

const suite = describe.skipIf(kubectlMissing !== undefined).concurrent
let world: KubectlWorld

beforeAll(async () => {
  if (kubectlMissing === undefined) world = await startKubectlWorld()
})

afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
})

const applied = (kubectl: Kubectl, object: object, flags = '') =>
  kubectl.run(`apply -f -${flags}`, { stdin: JSON.stringify(object) })
const refused = (kubectl: Kubectl, object: object, flags = '') =>
  kubectl.refused(`apply -f -${flags}`, { stdin: JSON.stringify(object) })

async function owners(kubectl: Kubectl, what: string): Promise<Record<string, object>> {
  const { metadata } = await kubectl.json(`get ${what} --show-managed-fields`)
  return Object.fromEntries(
    (metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }: Json) => [`${manager} ${operation}`, fieldsV1]),
  )
}

suite(`kubectl applies${skipNote}`, () => {
  it('--server-side creates, changes, and skips unchanged objects [P212, P217]', async () => {
    const kubectl = await world.namespace('ssa')
    expect(await applied(kubectl, configMap('m', { a: '1' }), ' --server-side')).toBe('configmap/m serverside-applied')
    const version = async () => (await kubectl.json('get configmap m')).metadata.resourceVersion as string
    const first = await version()
    expect(await applied(kubectl, configMap('m', { a: '1' }), ' --server-side')).toBe('configmap/m serverside-applied')
    expect(await version()).toBe(first)
    await applied(kubectl, configMap('m', { a: '2', b: '1' }), ' --server-side')
    expect((await kubectl.json('get configmap m')).data).toEqual({ a: '2', b: '1' })
    expect(await owners(kubectl, 'configmap m')).toEqual({ 'kubectl Apply': { 'f:data': { 'f:a': {}, 'f:b': {} } } })
  })

  it('conflicts name managers and fields, and are resolved by force, omission or agreement [P214, P215, P216]', async () => {
    const kubectl = await world.namespace('conflicts')
    await applied(kubectl, configMap('m', { a: '1', b: '1' }), ' --server-side --field-manager=alpha')
    await kubectl.run('patch configmap m --field-manager=bravo -p', { more: ['{"data":{"b":"2","c":"2"}}'] })
    const message = await refused(kubectl, configMap('m', { a: '9', b: '9' }), ' --server-side --field-manager=charlie')
    expect(message).toMatch(
      /^error: Apply failed with 2 conflicts: conflicts with "alpha":\n- \.data\.a\nconflicts with "bravo" using v1:\n- \.data\.b\n/,
    )
    expect(await applied(kubectl, configMap('m', { a: '1' }), ' --server-side --field-manager=charlie')).toContain('applied')
    expect(
      await applied(kubectl, configMap('m', { b: '9' }), ' --server-side --field-manager=charlie --force-conflicts'),
    ).toContain('applied')
    expect((await kubectl.json('get configmap m')).data).toEqual({ a: '1', b: '9', c: '2' })
    expect(await owners(kubectl, 'configmap m')).toEqual({
      'alpha Apply': { 'f:data': { 'f:a': {} } },
      'charlie Apply': { 'f:data': { 'f:b': {} } },
      'bravo Update': { 'f:data': { 'f:c': {} } },
    })
  })

  it('client-side after server-side warns and shares ownership [P212, P218]', async () => {
    const kubectl = await world.namespace('client-over')
    await applied(kubectl, configMap('m', { a: '1', b: '1' }), ' --server-side')
    const { stdout, stderr } = await kubectl.try(['apply', '-f', '-'], { stdin: JSON.stringify(configMap('m', { a: '2' })) })
    expect(stdout.trim()).toBe('configmap/m configured')
    expect(stderr).toContain('is missing the kubectl.kubernetes.io/last-applied-configuration annotation')
    // Client-side apply does not remove what it never applied.
    expect((await kubectl.json('get configmap m')).data).toEqual({ a: '2', b: '1' })
    const owned = await owners(kubectl, 'configmap m')
    expect(owned['kubectl Apply']).toEqual({ 'f:data': { 'f:b': {} } })
    expect(owned['kubectl-client-side-apply Update']).toMatchObject({ 'f:data': { 'f:a': {} } })
    expect(await applied(kubectl, configMap('m', { a: '2' }))).toBe('configmap/m unchanged')
    // And back: server-side apply updates the annotation.
    await applied(kubectl, configMap('m', { a: '3' }), ' --server-side')
    expect(JSON.parse(await kubectl.run('apply view-last-applied configmap m -o json')).data).toEqual({ a: '3' })
    expect((await kubectl.json('get configmap m')).data).toEqual({ a: '3' })
  })

  it('server-side after client-side conflicts with changes of others [P214]', async () => {
    const kubectl = await world.namespace('server-over')
    await applied(kubectl, deployment('web'))
    await kubectl.run('set image deployment web main=registry.example.com/main:7 --field-manager=pipeline')
    const message = await refused(kubectl, deployment('web'), ' --server-side --field-manager=kubectl')
    expect(message).toContain('conflict with "pipeline" using apps/v1: .spec.template.spec.containers[name="main"].image')
    await applied(kubectl, deployment('web', { image: 'registry.example.com/main:7' }), ' --server-side')
    const owned = await owners(kubectl, 'deployment web')
    // kubectl transfers ownership of its annotation to another manager.
    expect(Object.keys(owned).sort()).toEqual(['kubectl Apply', 'kubectl-last-applied Apply', 'pipeline Update'])
  })

  it('diff --server-side shows the changes of an apply without managed fields, and changes nothing [P195]', async () => {
    const kubectl = await world.namespace('ssa-diff')
    await applied(kubectl, deployment('web'), ' --server-side')
    const diff = (object: object, ...flags: string[]) =>
      kubectl.try(['diff', '--server-side', '-f', '-', ...flags], { stdin: JSON.stringify(object) })
    expect(await diff(deployment('web'))).toMatchObject({ code: 0, stdout: '' })
    const changed = await diff(deployment('web', { replicas: 7 }))
    expect([changed.code, changed.stdout]).toEqual([1, expect.stringMatching(/\n- {2}replicas: 2\n\+ {2}replicas: 7\n/)])
    expect(changed.stdout).not.toContain('managedFields')
    const owned = await diff(deployment('web', { replicas: 7 }), '--show-managed-fields')
    expect([owned.code, owned.stdout]).toEqual([1, expect.stringMatching(/\n[-+] +time: /)])
    const disputed = await diff(deployment('web', { replicas: 7 }), '--field-manager=other')
    expect(disputed.code).toBeGreaterThan(1)
    expect(disputed.stderr).toContain('conflict with "kubectl": .spec.replicas')
    const made = await diff(configMap('new', { a: '1' }))
    expect([made.code, made.stdout]).toEqual([1, expect.stringMatching(/\n\+data:\n\+ {2}a: "1"\n/)])
    expect((await kubectl.json('get deployment web')).spec.replicas).toBe(2)
  })

  it('patches of all types take ownership from applies, which then conflict [P145, P214]', async () => {
    const kubectl = await world.namespace('patched')
    const patches: Readonly<Record<string, string>> = {
      strategic: '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"registry.example.com/main:2"}]}}}}',
      merge: '{"spec":{"replicas":3}}',
      json: '[{"op":"replace","path":"/metadata/labels/app","value":"other"}]',
    }
    await applied(kubectl, deployment('web'), ' --server-side')
    for (const [type, patch] of Object.entries(patches)) {
      await kubectl.run(`patch deployment web --type=${type} --field-manager=by-${type} -p`, { more: [patch] })
    }
    expect(await owners(kubectl, 'deployment web')).toMatchObject({
      'by-json Update': { 'f:metadata': { 'f:labels': { 'f:app': {} } } },
      'by-merge Update': { 'f:spec': { 'f:replicas': {} } },
      'by-strategic Update': {
        'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"main"}': { 'f:image': {} } } } } },
      },
    })
    const message = await refused(kubectl, deployment('web'), ' --server-side')
    expect(message).toMatch(/Apply failed with 3 conflicts/)
    expect(await applied(kubectl, deployment('web'), ' --server-side --force-conflicts')).toContain('serverside-applied')
    expect(Object.keys(await owners(kubectl, 'deployment web'))).toEqual(['kubectl Apply'])
  })

  it('status and scale have separate managers [P227, P230]', async () => {
    const kubectl = await world.namespace('parts')
    await applied(kubectl, deployment('web'), ' --server-side')
    await kubectl.run('scale deployment web --replicas=5')
    await kubectl.run('patch deployment web --subresource=status --field-manager=reporter --type=merge -p', {
      more: ['{"status":{"observedGeneration":1}}'],
    })
    const message = await refused(kubectl, deployment('web'), ' --server-side')
    expect(message).toContain('conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas')
    expect((await owners(kubectl, 'deployment web'))['reporter Update']).toEqual({ 'f:status': { 'f:observedGeneration': {} } })
    await kubectl.run('patch deployment web --type=merge -p', { more: ['{"metadata":{"managedFields":[{}]}}'] })
    expect(await owners(kubectl, 'deployment web')).toEqual({})
  })
})
