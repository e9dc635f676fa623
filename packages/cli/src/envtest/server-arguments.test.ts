import { describe, expect, it } from 'vitest'
import { serverArguments } from './server-arguments.ts'

const arguments_ = (args: readonly string[], files: readonly string[] = []) =>
  serverArguments(args, { controllers: 'some', exists: (path) => files.includes(path) })

describe('serverArguments', () => {
  it('selects memory storage, no kubeconfig and the certificate of the harness', () => {
    const args = [
      '--cert-dir=/tmp/a',
      '--etcd-servers=http://127.0.0.1:2379',
      '--secure-port',
      '6444',
      '--authorization-mode=RBAC',
      '--allow-privileged=true',
      '--anonymous-auth',
    ]
    expect(arguments_(args, ['/tmp/a/apiserver.crt', '/tmp/a/apiserver.key'])).toEqual([
      '--storage=memory',
      '--write-kubeconfig=',
      '--controllers=some',
      '--data-dir=/tmp/a/krmkit',
      '--tls-cert-file=/tmp/a/apiserver.crt',
      '--tls-private-key-file=/tmp/a/apiserver.key',
      '--cert-dir=/tmp/a',
      '--secure-port=6444',
      '--authorization-mode=RBAC',
      '--allow-privileged=true',
      '--anonymous-auth',
    ])
  })

  it('keeps explicit flags', () => {
    const given = ['--tls-cert-file=/b.crt', '--tls-private-key-file=/b.key', '--controllers=*', '--storage=durable']
    const read = arguments_([...given, '--cert-dir=/a'], ['/a/apiserver.crt', '/a/apiserver.key'])
    expect(read).toEqual(['--write-kubeconfig=', '--data-dir=/a/krmkit', ...given, '--cert-dir=/a'])
  })

  it('drops flags of missing components with their values, and nothing else', () => {
    const gone = ['--etcd-prefix', '/registry', '--storage-backend=etcd3', '--kubelet-client-key', 'k', '--insecure-port=0']
    const kept = ['--etcd-compaction-interval=1m', '--unheard-of=1']
    expect(arguments_([...gone, ...kept])).toEqual(['--storage=memory', '--write-kubeconfig=', '--controllers=some', ...kept])
  })
})
