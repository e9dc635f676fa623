import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createCertificateRequest } from '@krmkit/certificates'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bystanderToken,
  type Kubectl,
  type KubectlWorld,
  kubectlMissing,
  skipNote,
  startKubectlWorld,
} from './support/kubectl.ts'

/** Stock kubectl with certificate requests: create, approve, deny, and use of the signed certificate. */

const suite = describe.skipIf(kubectlMissing !== undefined)
const nodeUsages = ['key encipherment', 'digital signature', 'client auth']
const bootstrapToken = 'abcdef.0123456789abcdef'
let world: KubectlWorld
let kubectl: Kubectl

beforeAll(async () => {
  if (kubectlMissing !== undefined) return
  world = await startKubectlWorld([
    '--authorization-mode=Node,RBAC',
    '--enable-bootstrap-token-auth',
    '--enable-admission-plugins=NodeRestriction',
  ])
  kubectl = world.kubectl
  // A kubeconfig without credentials, besides that of the administrator.
  await kubectl.run('config set-credentials missing')
}, 60_000)
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
})

function request(name: string, pem: string, spec: object = {}) {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      ...spec,
    },
  }
}

/** Polls for the signature. */
async function certificateOf(name: string, by: Kubectl = kubectl): Promise<string> {
  await by.run(`wait csr/${name} --for=jsonpath={.status.certificate} --timeout=30s`)
  return Buffer.from(await by.run(`get csr ${name} -o jsonpath={.status.certificate}`), 'base64').toString()
}

/** kubectl with only a client certificate. */
async function bearing(name: string, pair: { readonly certificate: string; readonly key: string }): Promise<Kubectl> {
  const certificate = await kubectl.file(`${name}.crt`, pair.certificate)
  const key = await kubectl.file(`${name}.key`, pair.key)
  return kubectl.with('--user=missing', `--client-certificate=${certificate}`, `--client-key=${key}`)
}

suite(`kubectl and certificates${skipNote}`, () => {
  it('requests, approves and uses a certificate [P131, P132, P134]', async () => {
    const { request: pem, key } = createCertificateRequest({ subject: { commonName: 'jane', organizations: ['dev', 'ops'] } })
    await kubectl.create(request('jane', pem, { expirationSeconds: 3600 }))
    expect(await kubectl.run('get csr jane')).toMatch(
      /jane +\S+ +kubernetes.io\/kube-apiserver-client +kubernetes-admin +60m +Pending/,
    )
    expect(await kubectl.run('certificate approve jane')).toBe('certificatesigningrequest.certificates.k8s.io/jane approved')
    const certificate = await certificateOf('jane')
    expect(await kubectl.run('get csr jane')).toContain('Approved,Issued')
    expect(await kubectl.run('describe csr jane')).toMatch(/Common Name: +jane/)
    const life = Date.parse(new X509Certificate(certificate).validTo) - Date.now()
    expect(life).toBeGreaterThan(3_500_000)
    expect(life).toBeLessThan(3_600_001)
    const jane = await bearing('jane', { certificate, key })
    const { status } = await jane.json('auth whoami')
    expect(status.userInfo).toMatchObject({ username: 'jane', groups: ['dev', 'ops', 'system:authenticated'] })
    expect(status.userInfo.extra['authentication.kubernetes.io/credential-id'][0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/)
    expect(await jane.refused('get secrets')).toContain('User "jane" cannot list resource "secrets"')
  })

  it('a denied request can neither be signed nor approved [P133]', async () => {
    const { request: pem } = createCertificateRequest({ subject: { commonName: 'joan' } })
    await kubectl.create(request('joan', pem))
    expect(await kubectl.run('certificate deny joan')).toBe('certificatesigningrequest.certificates.k8s.io/joan denied')
    expect(await kubectl.run('get csr joan')).toContain('Denied')
    expect(await kubectl.refused('certificate approve joan')).toContain('is already Denied')
    expect(await kubectl.refused('certificate approve missing')).toContain('NotFound')
    expect(await kubectl.run('get csr joan -o jsonpath={.status.certificate}')).toBe('')
  })

  it('refuses approval without the permission for the signer [P268]', async () => {
    const { request: pem } = createCertificateRequest({ subject: { commonName: 'jim' } })
    await kubectl.create(request('jim', pem))
    await kubectl.run(
      'create clusterrole almost --verb=get,list,watch,update --resource=certificatesigningrequests,certificatesigningrequests/approval',
    )
    await kubectl.run('create clusterrolebinding almost --clusterrole=almost --user=bystander')
    const bystander = kubectl.with(`--token=${bystanderToken}`)
    expect(await bystander.refused('certificate approve jim')).toContain('user not permitted to approve requests with signerName')
    await kubectl.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'approver' },
      rules: [
        { apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: ['kubernetes.io/*'], verbs: ['approve'] },
      ],
    })
    await kubectl.run('create clusterrolebinding approver --clusterrole=approver --user=bystander')
    expect(await bystander.run('certificate approve jim')).toContain('approved')
    await certificateOf('jim')
  })

  it("does not sign an approved request that violates the signer's rules, and logs the reason [P111]", async () => {
    const { request: pem } = createCertificateRequest({ subject: { commonName: 'jack' } })
    await kubectl.create(request('jack', pem, { usages: ['client auth', 'server auth'] }))
    await kubectl.run('certificate approve jack')
    await expect
      .poll(() => world.server.errors(), { timeout: 10_000 })
      .toContain('certificate request "jack" was not signed by kubernetes.io/kube-apiserver-client: invalid usage')
    await expect.poll(() => kubectl.run('get csr jack --no-headers'), { timeout: 10_000 }).toMatch(/Approved,Failed$/)
  })

  it('a node joins with a bootstrap token, uses its certificate, and renews it [P99]', async () => {
    const [id, secret] = bootstrapToken.split('.')
    await kubectl.run(
      `create secret generic bootstrap-token-${id} -n kube-system --type=bootstrap.kubernetes.io/token --from-literal=token-id=${id} --from-literal=token-secret=${secret} --from-literal=usage-bootstrap-authentication=true`,
    )
    const bind = (name: string, role: string, group: string) =>
      kubectl.run(`create clusterrolebinding ${name} --clusterrole=${role} --group=${group}`)
    await bind('join', 'system:node-bootstrapper', 'system:bootstrappers')
    await bind('approve', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient', 'system:bootstrappers')
    await bind('renew', 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient', 'system:nodes')
    const joiner = kubectl.with('--user=missing', `--token=${bootstrapToken}`)
    const createRequest = () =>
      createCertificateRequest({ subject: { commonName: 'system:node:a', organizations: ['system:nodes'] } })
    const node = { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: nodeUsages }
    const first = createRequest()
    await joiner.create(request('node-a', first.request, node))
    const nodeA = await bearing('node-a', { certificate: await certificateOf('node-a', joiner), key: first.key })
    expect((await nodeA.json('auth whoami')).status.userInfo).toMatchObject({
      username: 'system:node:a',
      groups: ['system:nodes', 'system:authenticated'],
    })
    await nodeA.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } })
    expect(await nodeA.refused('label node a kubernetes.io/hostname=b node-role.kubernetes.io/x=')).toContain('is not allowed')
    expect(await nodeA.refused('get node b')).toContain('forbidden')
    // It may not even request one for another node.
    const other = createCertificateRequest({ subject: { commonName: 'system:node:b', organizations: ['system:nodes'] } })
    expect(await nodeA.refused('create -f -', { stdin: JSON.stringify(request('node-b', other.request, node)) })).toContain(
      'can only create a node CSR with CN=system:node:a',
    )
    const second = createRequest()
    await nodeA.create(request('node-a-again', second.request, { ...node, usages: ['digital signature', 'client auth'] }))
    const certificate = await certificateOf('node-a-again', nodeA)
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(second.key))).toBe(true)
    const { status } = await kubectl.json('get csr node-a-again')
    expect(status.conditions[0].message).toContain('self kubelet client certificate')
    const renewed = await bearing('node-a-again', { certificate, key: second.key })
    expect(await renewed.run('get node a -o name')).toBe('node/a')
  })

  it('a node requests a serving certificate, which a user approves [P103]', async () => {
    const { request: pem } = createCertificateRequest({
      subject: { commonName: 'system:node:a', organizations: ['system:nodes'] },
      names: { dns: ['a.example.com'], ips: ['10.0.0.1'] },
    })
    const spec = { signerName: 'kubernetes.io/kubelet-serving', usages: ['key encipherment', 'digital signature', 'server auth'] }
    await kubectl.create(request('serving', pem, spec))
    await kubectl.run('certificate approve serving')
    const certificate = new X509Certificate(await certificateOf('serving'))
    expect(certificate.checkHost('a.example.com')).toBe('a.example.com')
    expect(certificate.checkIP('10.0.0.1')).toBe('10.0.0.1')
  })
})
